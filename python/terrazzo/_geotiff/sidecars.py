# SPDX-License-Identifier: Apache-2.0
"""Files that to_geotiff() writes beside a raster: categories and statistics (.aux.xml), and a style for QGIS (.qml)."""
from __future__ import annotations

import contextlib
import math
import os
import secrets
from typing import Any
from xml.sax.saxutils import escape

import numpy as np

# Colours at equal distances, of matplotlib's public colour maps.
_RAMPS = {
    "viridis": "440154 472d7b 3b528b 2c728e 21918c 28ae80 5ec962 addc30 fde725",
    "plasma": "0d0887 4c02a1 7e03a8 aa2395 cc4778 e66c5c f89540 fdc527 f0f921",
    "magma": "000004 1d1147 51127c 832681 b73779 e75263 fc8961 fec488 fcfdbf",
    "inferno": "000004 210c4a 57106e 8a226a bc3754 e45a31 f98e09 f9cb35 fcffa4",
    "cividis": "00224e 1a386f 434e6c 61656f 7d7c78 9b9476 bcae6c dec958 fee838",
    "greys": "ffffff f0f0f0 d9d9d9 bdbdbd 959595 727272 515151 242424 000000",
    "spectral": "9e0142 dd4a4c f98e52 fed481 ffffbe d6ee9b 86cfa5 3d95b8 5e4fa2",
    "terrain": "333399 0888ee 01cc66 81e680 fefe98 beac76 815e56 c1b0ac ffffff",
}


def check_ramp(ramp: Any) -> list[str] | None:
    """Colours of a ramp, as RRGGBB."""
    if ramp is None or ramp is False:
        return None
    name = "viridis" if ramp is True else ramp.lower() if isinstance(ramp, str) else ramp
    if not isinstance(name, str) or name not in _RAMPS:
        raise ValueError(f"unknown color_ramp {ramp!r}; choose from {sorted(_RAMPS)}")
    return _RAMPS[name].split()


def remove_stale(path: str) -> None:
    """A sidecar of the file that was replaced describes other pixels."""
    with contextlib.suppress(FileNotFoundError):
        os.remove(path + ".aux.xml")


def has_categories(names: Any) -> bool:
    return bool(_listed(names))


def _listed(values: Any) -> list[Any]:
    return [] if values is None else list(values)


def write_categories(path: str, names: Any, colors: Any) -> bool:
    names = _listed(names)
    if not names:
        return False
    rows = _listed(colors)
    rows = [[int(part) for part in (*color, 255)[:4]] for color in rows] if len(rows) == len(names) else []  # RGB is opaque
    fields = [("Value", 0, 5), ("Class", 2, 2)]
    if rows:
        fields += [("Red", 0, 6), ("Green", 0, 7), ("Blue", 0, 8), ("Alpha", 0, 9)]
    lines = ["<PAMDataset>", '  <PAMRasterBand band="1">', "    <CategoryNames>"]
    lines += [f"      <Category>{escape(str(name))}</Category>" for name in names]
    lines += ["    </CategoryNames>", '    <GDALRasterAttributeTable tableType="thematic">']
    for index, (name, kind, usage) in enumerate(fields):
        lines += [
            f'      <FieldDefn index="{index}">', f"        <Name>{name}</Name>", f"        <Type>{kind}</Type>",
            f"        <Usage>{usage}</Usage>", "      </FieldDefn>",
        ]  # fmt: skip
    for index, name in enumerate(names):
        cells = "".join(f"<F>{cell}</F>" for cell in (index, escape(str(name)), *(rows[index] if rows else ())))
        lines.append(f'      <Row index="{index}">{cells}</Row>')
    lines += ["    </GDALRasterAttributeTable>", "  </PAMRasterBand>", "</PAMDataset>"]
    _write_text(path + ".aux.xml", lines)
    return True


def write_symbology(path: str, colors: list[str], statistics: dict[str, float]) -> None:
    lines = ["<PAMDataset>", '  <PAMRasterBand band="1">', "    <Metadata>"]
    lines += [f'      <MDI key="STATISTICS_{name}">{value:.10g}</MDI>' for name, value in statistics.items()]
    _write_text(path + ".aux.xml", [*lines, "    </Metadata>", "  </PAMRasterBand>", "</PAMDataset>"])
    low, high = statistics["MINIMUM"], statistics["MAXIMUM"]
    if low < high:
        _write_text(os.path.splitext(path)[0] + ".qml", _style(colors, low, high))


def _style(colors: list[str], low: float, high: float) -> list[str]:
    def rgba(color: str) -> str:
        return ",".join(str(number) for number in bytes.fromhex(color)) + ",255"

    last = len(colors) - 1
    stops = ":".join(f"{index / last:.10g};{rgba(color)}" for index, color in enumerate(colors) if 0 < index < last)
    options = (("color1", rgba(colors[0])), ("color2", rgba(colors[-1])), ("discrete", "0"), ("rampType", "gradient"), ("stops", stops))
    bounds = f'minimumValue="{low:.10g}" maximumValue="{high:.10g}"'
    lines = [
        "<!DOCTYPE qgis PUBLIC 'http://mrcc.com/qgis.dtd' 'SYSTEM'>",
        '<qgis version="3.34.0" styleCategories="Symbology">',
        "  <pipe>",
        f'    <rasterrenderer type="singlebandpseudocolor" band="1" classificationMin="{low:.10g}" '
        f'classificationMax="{high:.10g}" alphaBand="-1" opacity="1" nodataColor="">',
        "      <rastershader>",
        f'        <colorrampshader colorRampType="INTERPOLATED" classificationMode="1" clip="0" {bounds}>',
        '          <colorramp type="gradient" name="[source]">',
        '            <Option type="Map">',
    ]
    lines += [f'              <Option type="QString" name="{name}" value="{value}"/>' for name, value in options]
    lines += ["            </Option>", "          </colorramp>"]
    for index, color in enumerate(colors):
        value = f"{low + (high - low) * index / last:.10g}"
        lines.append(f'          <item value="{value}" color="#{color}" alpha="255" label="{value}"/>')
    return lines + [
        "        </colorrampshader>", "      </rastershader>", "    </rasterrenderer>",
        '    <brightnesscontrast brightness="0" contrast="0" gamma="1"/>', '    <huesaturation saturation="0" colorizeOn="0"/>',
        '    <rasterresampler maxOversampling="2"/>', "  </pipe>", "  <blendMode>0</blendMode>", "</qgis>",
    ]  # fmt: skip


def _write_text(path: str, lines: list[str]) -> None:
    """The file appears complete or not at all. A link or pipe of its name is replaced: another user may have made it."""
    temporary = os.path.join(os.path.dirname(path), f".terrazzo-{secrets.token_hex(8)}.tmp")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o666)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.remove(temporary)
        raise


class Statistics:
    """Minimum, maximum, mean and standard deviation of pixels that come in parts."""

    def __init__(self, nodata: Any):
        self.nodata = nodata
        self.count, self.mean, self.squares = 0, 0.0, 0.0
        self.low, self.high = math.inf, -math.inf

    def add(self, pixels: Any) -> None:
        values = np.asarray(pixels.get() if hasattr(pixels, "get") else pixels)
        valid = np.isfinite(values)
        if self.nodata is not None and self.nodata == self.nodata:
            valid &= values != self.nodata
        values = values[valid].astype(np.float64)
        if not values.size:
            return
        mean, count = float(values.mean()), self.count + values.size
        gap = mean - self.mean
        self.squares += float(((values - mean) ** 2).sum()) + gap * gap * self.count * values.size / count
        self.mean += gap * values.size / count
        self.count = count
        self.low, self.high = min(self.low, float(values.min())), max(self.high, float(values.max()))

    def result(self) -> dict[str, float] | None:
        if not self.count:
            return None
        deviation = math.sqrt(self.squares / self.count)
        return {"MINIMUM": self.low, "MAXIMUM": self.high, "MEAN": self.mean, "STDDEV": deviation}
