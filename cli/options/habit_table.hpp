// SPDX-License-Identifier: Apache-2.0
//
// The names of GDAL, rio and rio-cogeo, and ours. habits.cpp applies the tables.
#pragma once

#include <string_view>

namespace terrazzo::cli {

inline constexpr int kUpToFourNumbers = -1;

// The first row that applies is used. A row applies if it has the typed name, `only` (if any) is the command, `when`
// (if any) has the first value, and `ours` exists:
//   "--window $1,$2"   an option of this command; $1 is the user's first value, $* all values with commas
//   "terrazzo stats"   another command; $F is the user's file, $O the output
//   ""                 the default here: the option can be left out
//   any other text     an explanation; $1 as above
struct Habit {
  std::string_view theirs;  // names, separated by blanks
  int values = 0;           // words that follow the name
  std::string_view ours{};
  std::string_view only{};
  std::string_view when{};  // values in lower case, separated by blanks
};

inline constexpr std::string_view kNoWarp =
    "Terrazzo does not warp; type \"gdalwarp -t_srs $1 IN.tif OUT.tif\" first, and use OUT.tif here";
inline constexpr std::string_view kNoWarping = "Terrazzo does not warp; use gdalwarp first";
inline constexpr std::string_view kNoOpenOptions =
    "GDAL's settings have no effect here; --threads, --memory-limit, --page and --level are the options for reading";

inline constexpr std::string_view kAllOfInfo = "info prints all of it; --json has a key for each part";

inline constexpr std::string_view kNoGeometry = "type \"terrazzo edit\" with --transform after writing the file";
inline constexpr std::string_view kKeepsColours = "the command keeps the colours of bands; use gdal_edit.py for others";

inline constexpr Habit kHabits[] = {
    // Pictures
    {"-outsize --outsize -ts --ts --size --width --height", 2, "--max-size $1", "preview"},
    {"--cmap --color-map", 1, "--colormap $1", "preview"},
    {"--rescale --clim", 1, "--range $1", "preview"},
    {"--vmin --vmax", 1, "--range", "preview"},
    // Pixels
    {"-srcwin --srcwin", 4, "--window $1,$2,$3,$4"},
    {"-projwin --projwin", 4, "--bbox $1,$4,$3,$2"},
    {"-projwin --projwin", 4, "--window"},
    {"-te --te", 4, "--bbox $1,$2,$3,$4"},
    {"-te --te", 4, "--window"},
    {"--bounds --bbox", 1, "--transform", "edit"},
    {"--bounds", 1, "--bbox $1"},
    {"--bounds", 1, "--window"},
    {"--bbox", 1, "--window"},
    {"-projwin_srs --projwin_srs -te_srs --te_srs", 1, "--bbox-crs $1"},
    {"--geographic", 0, "--bbox-crs EPSG:4326"},
    {"--projected --without-complement", 0, ""},
    {"--with-complement", 0, "--boundless"},
    {"-epo -eco", 0, "a window that reaches outside the raster is an error, and a box is clipped with a note"},
    {"-outsize --outsize -ts --ts", 2, "--target-size $1,$2"},
    {"--size", 1, "--target-size $1"},
    {"-tr --tr", 2, "--target-resolution $1,$2"},
    {"-resolution --resolution", 1,
     "the grid is that of the first file; --target-resolution R is another size of pixels", "mosaic",
     "highest lowest average same common user"},
    {"--res --resolution", 1, "--target-resolution $1"},
    {"-tap --tap --target-aligned-pixels", 0,
     "pixels begin at the corner of the box; a --bbox of multiples of the resolution aligns them"},
    {"-overview", 1, "--level $1", "sample"},
    {"-ovr", 1, "--level N"},
    {"-b", 1, "--band $1", "edit"},
    {"-b --band", 1, "overviews are made of all bands", "overviews"},
    {"-b --band", 1, "--bands $*"},
    {"-ot --ot --output-type --output-data-type -t", 1, "--dtype $1"},
    {"-unscale", 0, "--unpack"},
    {"-scale --scale", kUpToFourNumbers, "--range $*", "preview"},
    {"-scale -a_scale", 1, "--band 1 --scale $1", "edit"},
    {"-offset -a_offset", 1, "--band 1 --offset $1", "edit"},
    {"-scale", kUpToFourNumbers, "--scale $*"},
    {"-scale --scale-ratio", kUpToFourNumbers, "this command does not rescale values; use gdal_translate -scale"},
    {"-exponent", 1, "this command does not rescale values; use gdal_translate -exponent"},
    {"-a_scale -a_offset", 1, "type \"terrazzo edit\" after writing the file: it stores a scale and an offset"},
    {"-expand", 1, "this command keeps palettes; use gdal_translate -expand $1"},
    // Mosaics
    {"--method", 1, "--rule $1", "mosaic"},
    {"-input_file_list --optfile", 1, "--inputs-from $1", "mosaic"},
    {"-ul_lr --ul_lr", 4, "--bbox $1,$4,$3,$2", "mosaic"},
    {"-ps", 2, "--target-resolution $1,$2", "mosaic"},
    {"-n -vrtnodata -init --init", 1, "--nodata $1", "mosaic"},
    {"-addalpha --addalpha --add-alpha", 0, "--mask", "mosaic"},
    {"-pct", 0, "", "mosaic"},
    {"-r --resampling", 1,
     "a mosaic takes the nearest pixel; type \"terrazzo convert FILE --target-resolution R --resampling $1\" for the "
     "files "
     "first",
     "mosaic"},
    {"-separate", 0, "a mosaic lays files side by side; use gdalbuildvrt -separate to stack them as bands", "mosaic"},
    // Points
    {"-wgs84", 0, "--crs EPSG:4326", "sample"},
    {"-l_srs", 1, "--crs $1", "sample"},
    {"-geoloc", 0, "", "sample"},
    {"--position-crs", 1, "--crs $1", "sample"},
    {"--position --pos", 2, "--at $1,$2", "sample"},
    {"-xml -lifonly", 0, "--json", "sample"},
    {"-valonly", 0, "the output is CSV, X,Y and a value per band; \"| tail -n +2 | cut -d, -f3-\" keeps the values",
     "sample"},
    {"-r --resampling", 1, "the value is that of the pixel that contains the point; gdallocationinfo -r interpolates",
     "sample"},
    // Warping
    {"-t_srs --t_srs --dst-crs", 1, kNoWarp},
    {"-s_srs --s_srs --src-crs -cutline -et -order -rpc -tps -geoloc -crop_to_cutline", 0, kNoWarping},
    {"--web-optimized -w", 0, "--tiling-scheme GoogleMapsCompatible"},
    {"--web-optimized -w", 0, kNoWarping},
    {"--zoom-level-strategy", 1, "--zoom-level"},
    // Layout and compression
    {"-p --cog-profile --profile --compress", 1, "--compression $1"},
    {"--zlevel --level", 1, "--compression-level $1"},
    {"--block-size --overview-blocksize", 1, "--tile-size $1"},
    {"--strips", 1, "--tile-size N"},
    {"--add-mask", 0, "--mask"},
    {"-mask", 1, "", "", "auto"},
    {"-mask", 1, "the command copies the mask; use gdal_translate -mask none to drop it", "", "none"},
    {"-mask", 1, "--mask"},
    // Overviews
    {"-r", 1, "--resampling $1"},
    {"--overview-resampling", 1, "--resampling $1"},
    {"--overview-level", 1, "--overviews"},
    {"--build", 1, "", "overviews", "auto"},
    {"-levels --levels --build", 1, "--factors $1"},
    {"-minsize --min-size", 1, "--factors", "overviews"},
    {"--partial-refresh-from-source-timestamp", 0, "overviews are made anew as a whole; leave it out", "overviews"},
    {"--partial-refresh-from-projwin", 4, "overviews are made anew as a whole; leave it out", "overviews"},
    {"--partial-refresh-from-source-extent", 1, "overviews are made anew as a whole; leave it out", "overviews"},
    {"-ro", 0, "--external"},
    {"-clean --clean", 0, "--factors none"},
    {"--rebuild", 0, "", "overviews"},
    {"--ls", 0, "terrazzo info $F", "overviews"},
    // Description
    {"-a_srs --a_srs --srs", 1, "--crs $1"},
    {"-a_nodata --a_nodata -dstnodata", 1, "--nodata $1"},
    {"-srcnodata", 1, "type \"terrazzo edit FILE --nodata $1\" first: it declares the value in the source"},
    {"-unsetnodata --unset-nodata", 0, "--nodata none"},
    {"--unset-crs", 0, "--crs none"},
    {"-a_ullr", 4, "--transform"},
    {"-a_ullr", 4, kNoGeometry},
    {"-a_gt", 6, "--transform $1,$2,$3,$4,$5,$6"},
    {"-a_gt", 6, kNoGeometry},
    {"-gcp --gcp", kUpToFourNumbers,
     "ground control points are copied as they are; use gdal_translate -gcp for others"},
    {"-unsetgt --unset-transform", 0, "--transform none"},
    {"-unsetstats", 0, "type \"--band N --unset STATISTICS_MEAN\", and so on for the other items", "edit"},
    {"--unset-metadata", 1, "--unset $1"},
    {"--unset-tags --unset-metadata-domain", 0, "type \"--unset KEY\" for each item", "edit"},
    {"--like --all", 1, "type the values themselves, as \"terrazzo info\" of the other file shows them", "edit"},
    {"-colorinterp --colorinterp -colorinterp_1 -colorinterp_2 -colorinterp_3 -colorinterp_4 --photometric", 1,
     kKeepsColours},
    {"-mo --tag --metadata", 1, "--set $1"},
    {"-mo", 1, "type \"terrazzo edit PATH --set $1\" after writing the file"},
    {"-unsetmd", 0, "--unset KEY"},
    {"-units --units", 1, "--band 1 --unit $1"},
    {"-stats --stats -approx_stats", 0, "terrazzo stats $F", "info"},
    {"-stats", 0, "--statistics"},
    {"-stats --stats -approx_stats", 0, "terrazzo stats $F"},
    {"-mm --mm", 0, "terrazzo stats $F"},
    {"-hist --hist", 0, "terrazzo stats $F --histogram 256"},
    {"-checksum --checksum", 0, "terrazzo checksum $F", "info"},
    {"-json", 0, "--json"},
    {"-proj4 -nogcp -nomd -norat -noct -nofl -listmdd --tell-me-more --meta --shape --count --bounds "
     "--crs --nodata --dtype",
     0, kAllOfInfo, "info"},
    {"-nogcp -norat -noxmp", 0, "the command copies all that describes the pixels; use gdal_translate to drop it"},
    {"-mdd -wkt_format", 1, kAllOfInfo, "info"},
    {"-sd", 1, "--page N"},
    {"-sds", 0, "--page N"},
    // Formats and programs
    {"-of --of -f --format --output-format", 1, "--json", "info", "json"},
    {"-of --of -f --format --output-format", 1, "", "info", "text"},
    {"-of --of -f --format --driver --output-format", 1, "", "convert", "gtiff"},
    {"-of --of -f --format --driver --output-format", 1, "", "cog", "cog"},
    {"-of --of -f --format --driver --output-format", 1, "--cog", "mosaic", "cog"},
    {"-of --of -f --format --driver --output-format", 1, "", "mosaic", "gtiff"},
    {"-of --of -f --format --driver --output-format", 1, "", "preview", "png"},
    {"-of --of -f --format --driver --output-format", 1, "terrazzo cog $F --out $O", "", "cog"},
    {"-of --of -f --format --driver --output-format", 1, "terrazzo convert $F --out $O", "", "gtiff"},
    {"-of --of -f --format --driver --output-format", 1, "terrazzo preview $F --out NAME.png", "", "png"},
    {"-of --of -f --format --driver --output-format", 1,
     "Terrazzo writes GeoTIFF, COG, PNG and .npy only; use gdal_translate -of $1"},
    {"-if --if --input-format", 1, "Terrazzo reads TIFF only; convert other formats with gdal_translate"},
    {"-overwrite -y", 0, "--overwrite"},
    {"-overwrite --overwrite -y", 0, ""},
    {"-strict", 0, ""},
    {"--in-memory --no-in-memory --use-cog-driver --forward-band-tags --forward-ns-tags -multi", 0, ""},
    {"-wm", 1, "--memory-limit SIZE"},
    {"-wo", 1, kNoOpenOptions},
    {"-oo --oo --open-option", 1, kNoOpenOptions},
    {"--config", 2, "--threads $2", "", "gdal_num_threads"},
    {"--config", 2, "--compression $2", "", "compress_overview"},
    {"--config", 2, kNoOpenOptions},
    {"--num-threads -nt", 1, "--threads $1"},
    {"-j", 1, "--jobs $1"},
    {"--input", 1, "type \"$1\" without --input"},
};

// Names that mean the same here.
struct Synonym {
  std::string_view theirs, ours;
};
inline constexpr Synonym kAccepted[] = {
    {"--output", "--out"},
    {"--bidx", "--bands"},
    {"--blocksize", "--tile-size"},
    {"-quiet", "--quiet"},
};

// Creation options: -co KEY=VALUE. An empty value stands for any; "yes" and "no" stand for GDAL's ways to write them.
struct CreationHabit {
  std::string_view key, value, ours;  // keys, separated by blanks
};
inline constexpr std::string_view kCreationNames = "-co --co --creation-option --profile";
inline constexpr CreationHabit kCreation[] = {
    {"compress", "jxl", "Terrazzo does not write JPEG XL; use gdal_translate"},
    {"compress", "", "--compression $1"},
    {"compress_overview", "", "--compression $1"},
    {"predictor", "1", "--predictor none"},
    {"predictor", "2", "--predictor 2"},
    {"predictor", "3", "--predictor 3"},
    {"predictor", "no", "--predictor none"},
    {"predictor", "yes", ""},
    {"predictor", "standard", "--predictor 2"},
    {"predictor", "floating_point", "--predictor 3"},
    {"zlevel zstd_level lzma_preset level", "", "--compression-level $1"},
    {"max_z_error", "", "--max-error $1"},
    {"jpeg_quality quality", "", "--quality $1"},
    {"webp_level", "", "--lossy --quality $1"},
    {"webp_lossless", "yes", ""},
    {"webp_lossless", "no", "--lossy"},
    {"tiled", "yes", ""},
    {"tiled", "no", "--strips N"},
    {"blocksize", "", "--tile-size $1"},
    {"interleave", "pixel", "--interleave pixel"},
    {"interleave", "band", "--interleave band"},
    {"bigtiff", "yes", "--bigtiff yes"},
    {"bigtiff", "no", "--bigtiff no"},
    {"bigtiff", "if_needed", "--bigtiff auto"},
    {"bigtiff", "if_safer", "--bigtiff auto"},
    {"sparse_ok", "yes", "--sparse"},
    {"sparse_ok", "no", ""},
    {"num_threads", "all_cpus", ""},
    {"num_threads", "", "--threads $1"},
    {"copy_src_overviews", "yes", "terrazzo cog $F --out $O"},
    {"overviews", "none", "--overviews none"},
    {"overviews", "", ""},
    {"overview_resampling", "", "--overview-resampling $1"},
    {"resampling", "", "--resampling $1"},
    {"statistics", "yes", "--statistics"},
    {"statistics", "no", ""},
    {"add_alpha", "", ""},
    {"add_mask", "yes", "--mask"},
    {"tiling_scheme", "googlemapscompatible", "--tiling-scheme GoogleMapsCompatible"},
    {"tiling_scheme target_srs", "", kNoWarping},
    {"warp_resampling", "", "--resampling $1"},
    {"extent", "", "--bbox $1"},
    {"res", "", "--target-resolution $1"},
    {"overview_count", "", "--overviews"},
    {"photometric", "ycbcr", ""},
    {"zoom_level", "", "--zoom-level $1"},
    {"aligned_levels", "", "--aligned-levels $1"},
};

// Commands and programs. The first row whose command exists is used; a text without "terrazzo" is an explanation.
struct CommandHabit {
  std::string_view theirs;  // names, separated by blanks; a suffix .py and the prefix rio- are removed before
  std::string_view ours;
};
inline constexpr std::string_view kToConvert =
    "type \"terrazzo convert FILE --out PATH\", or \"terrazzo cog FILE --out PATH\" for a COG";
inline constexpr CommandHabit kCommands[] = {
    {"translate gdal_translate gdal raster copy compress", kToConvert},
    {"gdalinfo identify describe bounds", "type \"terrazzo info FILE\""},
    {"addo gdaladdo overview pyramids build-overviews", "type \"terrazzo overviews FILE\""},
    {"cogeo create cogify", "type \"terrazzo cog FILE --out PATH\""},
    {"gdal_edit edit-info edit_info setnodata", "type \"terrazzo edit FILE --help\""},
    {"gdalwarp warp reproject project",
     "Terrazzo does not warp; type \"gdalwarp -t_srs CRS IN.tif OUT.tif\", then \"terrazzo cog OUT.tif --out PATH\""},
    {"clip crop window extract", "type \"terrazzo convert FILE --out PATH --bbox XMIN,YMIN,XMAX,YMAX\""},
    {"clip crop window extract", "type \"terrazzo convert FILE --out PATH --window COL,ROW,W,H\""},
    {"gdallocationinfo locationinfo pixel-info", "type \"terrazzo sample FILE --at X,Y\""},
    {"sample gdallocationinfo locationinfo",
     "type \"terrazzo read FILE --window COL,ROW,1,1 --out PATH\" for the value of a pixel"},
    {"merge gdal_merge buildvrt gdalbuildvrt vrt stitch join",
     "type \"terrazzo mosaic FILE... --out PATH\", with --cog for a COG"},
    {"build", "type \"terrazzo mosaic FILE... --out PATH\" to join files, or \"terrazzo overviews FILE\""},
    {"stack",
     "Terrazzo does not stack bands; type \"gdalbuildvrt -separate ALL.vrt *.tif\", then "
     "\"gdal_translate ALL.vrt ALL.tif\""},
    {"retile gdal_retile", "type \"terrazzo convert FILE --out PATH --window COL,ROW,W,H\" for each tile"},
    {"rasterize gdal_rasterize polygonize gdal_polygonize shapes contour gdal_contour grid gdal_grid features",
     "Terrazzo has no vector data; use GDAL's gdal_rasterize, gdal_polygonize, gdal_contour or gdal_grid"},
    {"calc gdal_calc", "Terrazzo does not calculate; use gdal_calc, or NumPy after \"terrazzo read FILE --out PATH\""},
    {"dem gdaldem hillshade", "type \"terrazzo preview FILE --out NAME.png --style hillshade\""},
    {"resize", "type \"terrazzo convert FILE --out PATH --target-size W,H\""},
    {"set-type", "type \"terrazzo convert FILE --out PATH --dtype TYPE\""},
    {"unscale", "type \"terrazzo convert FILE --out PATH --unpack\""},
    {"scale rescale", "type \"terrazzo convert FILE --out PATH --scale SRC_MIN,SRC_MAX,DST_MIN,DST_MAX\""},
    {"select", "type \"terrazzo convert FILE --out PATH --bands LIST\""},
    {"thumbnail quicklook png render", "type \"terrazzo preview FILE --out NAME.png\""},
    {"histogram hist minmax gdalhist", "type \"terrazzo stats FILE\""},
    {"compare gdalcompare hash md5", "type \"terrazzo checksum FILE\""},
    {"check verify validate_cloud_optimized_geotiff", "type \"terrazzo validate FILE\""},
    {"benchmark", "type \"terrazzo bench read FILE\""},
    {"env libraries drivers formats", "type \"terrazzo doctor\""},
};

// The first word after a command, where other programs have a command below it. A file of that name comes first.
struct WordHabit {
  std::string_view command, words, ours;  // words, separated by blanks
};
inline constexpr WordHabit kWords[] = {
    {"cog", "create", "terrazzo cog FILE --out PATH"},
    {"cog", "validate", "terrazzo validate FILE"},
    {"cog", "info", "terrazzo info FILE"},
    {"overviews", "add build refresh", "terrazzo overviews FILE"},
    {"overviews", "delete clean remove", "terrazzo overviews FILE --factors none"},
};

}  // namespace terrazzo::cli
