# SPDX-License-Identifier: Apache-2.0
import pickle

import numpy as np
import pytest
import rasterio

import terrazzo

xr = pytest.importorskip("xarray")


def test_the_engine_gives_the_profile_of_rioxarray(packed):
    ds = xr.open_dataset(packed, engine="terrazzo")
    data = ds.band_data
    assert data.dims == ("band", "y", "x") and list(ds.band) == [1, 2, 3]
    values = rasterio.open(packed).read()
    assert data.dtype in (np.float32, np.float64)
    np.testing.assert_allclose(data.values, np.where(values == -9999, np.nan, values * 0.5 + 10))
    assert data.encoding["_FillValue"] == -9999 and data.encoding["grid_mapping"] == "spatial_ref"
    assert data.attrs["long_name"] == ("low", "middle", "high") and data.attrs["AUTHOR"] == "nobody"
    assert float(ds.x[0]) == 500005 and float(ds.y[0]) == 4199995
    assert "UTM zone 32N" in ds.spatial_ref.attrs["crs_wkt"]
    assert ds.spatial_ref.attrs["GeoTransform"] == "500000.0 10.0 0.0 4200000.0 0.0 -10.0"


def test_raw_values_come_without_masking(packed):
    data = xr.open_dataset(packed, engine="terrazzo", mask_and_scale=False).band_data
    assert data.dtype == np.int16 and data.attrs["_FillValue"] == -9999
    np.testing.assert_array_equal(data, rasterio.open(packed).read())


def test_bands_become_variables(packed):
    ds = xr.open_dataset(packed, engine="terrazzo", band_as_variable=True, mask_and_scale=False)
    assert list(ds.data_vars) == ["band_1", "band_2", "band_3"]
    np.testing.assert_array_equal(ds.band_2, rasterio.open(packed).read(2))


def test_indexing_is_lazy_and_equals_numpy(large):
    whole = rasterio.open(large).read()
    ds = xr.open_dataset(large, engine="terrazzo", mask_and_scale=False, cache=False)
    data = ds.band_data
    rows, columns = np.array([5, 900, 3]), np.array([7, 6])
    for key in (np.s_[0, 10:20, 30:40], np.s_[:, 5, ::-3], np.s_[0, 100:50:-2, -5:], np.s_[:, :0, :], np.s_[0, 3, 4],
                np.s_[-1, -2, ...]):
        np.testing.assert_array_equal(data[key].values, whole[key])
    np.testing.assert_array_equal(data[0, rows, columns].values, whole[0][np.ix_(rows, columns)])


@pytest.mark.filterwarnings("ignore:The specified chunks separate")
def test_chunks_are_whole_tiles_and_lazy(large):
    pytest.importorskip("dask")
    whole = rasterio.open(large).read()
    ds = xr.open_dataset(large, engine="terrazzo", chunks={}, mask_and_scale=False)
    assert ds.band_data.chunks == ((1,), (2048,), (2048,))
    ds = xr.open_dataset(large, engine="terrazzo", chunks={"y": 512, "x": 512}, mask_and_scale=False)
    assert ds.band_data.data.npartitions == 16
    np.testing.assert_array_equal(ds.band_data.compute(), whole)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(ds)).band_data.compute(), whole)


def test_overviews_have_their_own_coordinates(large):
    ds = xr.open_dataset(large, engine="terrazzo", overview=1, mask_and_scale=False)
    assert dict(ds.sizes) == {"band": 1, "y": 1024, "x": 1024} and float(ds.x[1] - ds.x[0]) == 20
    with pytest.raises(terrazzo.UsageError):
        xr.open_dataset(large, engine="terrazzo", overview=9)
