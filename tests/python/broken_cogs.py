# SPDX-License-Identifier: Apache-2.0
"""COGs by GDAL's driver, and ways to break them.

A breakage changes a tiff_patch.Tiff and returns the rules of `terrazzo validate` that it must break: errors only.
"""

import numpy as np
import rasterio
from tiff_patch import COUNTS, OFFSETS, WIDTH


def write_cog(path, *, width=1100, height=900, count=1, dtype="uint8", mask=False, empty=False, **options):
    """By GDAL's COG driver: three overviews at 128 pixels a tile."""
    rng = np.random.default_rng(7)
    y, x = np.mgrid[0:height, 0:width]
    pixels = np.stack([(x * (band + 1) // 8 + y // 5 + rng.integers(0, 3, (height, width))) % 200 + 1
                       for band in range(count)]).astype(dtype)
    profile = {"driver": "COG", "width": width, "height": height, "count": count, "dtype": dtype, "blocksize": 128,
               "overview_resampling": "nearest", **options}
    if empty:
        pixels[:, 200:700, 300:800] = 0
        profile.update(nodata=0)
    with rasterio.Env(GDAL_TIFF_INTERNAL_MASK=True), rasterio.open(path, "w", **profile) as out:
        out.write(pixels)
        if mask:
            valid = np.full((height, width), 255, np.uint8)
            valid[100:400, 200:300] = 0
            out.write_mask(valid)


BASES = {
    "deflate": {"compress": "deflate"},
    "bands": {"compress": "lzw", "count": 4, "dtype": "uint16", "width": 700, "height": 800},
    "bigtiff": {"compress": "zstd", "dtype": "float32", "bigtiff": "yes"},
    "sparse": {"compress": "deflate", "sparse_ok": "true", "empty": True},
    "mask": {"compress": "jpeg", "count": 3, "mask": True},
}


def present(tiff, ifd):
    return [i for i, (_, count) in enumerate(tiff.tiles(ifd)) if count]


def pick_level(tiff, rng):
    return rng.choice([i for i in tiff.levels() if len(present(tiff, i)) >= 4])


def unpromise(tiff):
    """Takes back what the ghost area says of tiles, so that only the tiles themselves can tell."""
    tiff.replace_text(b"BLOCK_LEADER=SIZE_AS_UINT4", b"BLOCK_LEADER=NO_LEADER_HERE"[:26])
    tiff.replace_text(b"BLOCK_TRAILER=LAST_4_BYTES_REPEATED", b"BLOCK_TRAILER=NO_TRAILER_AT_ALL_HERE"[:35])
    tiff.replace_text(b"BLOCK_ORDER=ROW_MAJOR", b"BLOCK_ORDER=AS_IT_IS."[:21])


def swap_tiles(tiff, rng):
    ifd = pick_level(tiff, rng)
    tiles = tiff.tiles(ifd)
    a, b = rng.sample(present(tiff, ifd), 2)
    tiles[a], tiles[b] = tiles[b], tiles[a]
    tiff.set_tiles(ifd, tiles)
    return {"tile-order"}


def swap_offsets_only(tiff, rng):
    ifd = pick_level(tiff, rng)
    tiles = tiff.tiles(ifd)
    a, b = next((a, b) for a in present(tiff, ifd) for b in present(tiff, ifd) if tiles[a][1] != tiles[b][1])
    tiles[a], tiles[b] = (tiles[b][0], tiles[a][1]), (tiles[a][0], tiles[b][1])
    tiff.set_tiles(ifd, tiles)
    return {"tile-leader"}


def shuffle_tiles(tiff, rng):
    ifd = pick_level(tiff, rng)
    tiles = tiff.tiles(ifd)
    rng.shuffle(tiles)
    tiff.set_tiles(ifd, tiles)
    return {"tile-order"}


def reverse_tiles_unpromised(tiff, rng):
    unpromise(tiff)
    ifd = pick_level(tiff, rng)
    tiff.set_tiles(ifd, tiff.tiles(ifd)[::-1])
    return set()  # a warning; unless the level now begins behind the next


def truncate(tiff, rng):
    del tiff.data[rng.randrange(len(tiff.data) // 2, len(tiff.data) - 8) :]
    return {"tile-past-end"}


def truncate_last_trailer(tiff, rng):
    del tiff.data[-rng.randrange(1, 4) :]
    return {"tile-trailer"}


def move_last_ifd(tiff, rng):
    tiff.move_ifd(len(tiff.ifds) - 1)
    return {"data-before-ifd"} if not tiff.masks() else {"ifd-after-data"}


def move_overview_ifd(tiff, rng):
    tiff.move_ifd(rng.choice(tiff.levels()[1:-1]))
    return {"overview-ifd-order"}


def move_main_ifd(tiff, rng):
    tiff.move_ifd(0)
    return {"main-ifd-position"}


def break_leader(tiff, rng):
    ifd = rng.randrange(len(tiff.ifds))
    offset = tiff.tiles(ifd)[rng.choice(present(tiff, ifd))][0]
    tiff.data[offset - rng.randrange(1, 5)] ^= 0x41
    return {"tile-leader"}


def break_trailer(tiff, rng):
    ifd = rng.randrange(len(tiff.ifds))
    offset, count = tiff.tiles(ifd)[rng.choice(present(tiff, ifd))]
    tiff.data[offset + count + rng.randrange(4)] ^= 0x41
    return {"tile-trailer"}


def zero_count(tiff, rng):
    ifd = pick_level(tiff, rng)
    tiles = tiff.tiles(ifd)
    victim = rng.choice(present(tiff, ifd))
    tiles[victim] = (tiles[victim][0], 0)
    tiff.set_tiles(ifd, tiles)
    return set()  # a warning


def zero_tile(tiff, rng):
    ifd = pick_level(tiff, rng)
    tiles = tiff.tiles(ifd)
    tiles[rng.choice(present(tiff, ifd)[1:])] = (0, 0)
    tiff.set_tiles(ifd, tiles)
    return set()  # sparse


def change_count(tiff, rng):
    ifd = pick_level(tiff, rng)
    tiles = tiff.tiles(ifd)
    victim = rng.choice(present(tiff, ifd))
    tiles[victim] = (tiles[victim][0], tiles[victim][1] + rng.choice((-1, 1, 7)))
    tiff.set_tiles(ifd, tiles)
    return {"tile-leader"}


def overlap_unpromised(tiff, rng):
    unpromise(tiff)
    ifd = tiff.levels()[-1]
    tiles = tiff.tiles(ifd)
    victim = present(tiff, ifd)[0]
    tiles[victim] = (tiles[victim][0], tiles[victim][1] + rng.randrange(20, 60))
    tiff.set_tiles(ifd, tiles)
    return {"tile-overlap"}


def past_end_unpromised(tiff, rng):
    unpromise(tiff)
    tiles = tiff.tiles(0)
    victim = rng.choice(present(tiff, 0)[1:])
    tiles[victim] = (len(tiff.data) - rng.randrange(1, 5), tiles[victim][1])
    tiff.set_tiles(0, tiles)
    return {"tile-past-end"}


def tile_in_the_header(tiff, rng):
    unpromise(tiff)
    ifd = tiff.levels()[-1]
    tiles = tiff.tiles(ifd)
    victim = rng.choice(present(tiff, ifd)[1:] or present(tiff, ifd))
    tiles[victim] = (tiff.ifds[ifd].at + 2, tiles[victim][1])
    tiff.set_tiles(ifd, tiles)
    return {"tile-over-metadata"}


def same_tile_twice(tiff, rng):
    ifd = pick_level(tiff, rng)
    tiles = tiff.tiles(ifd)
    a, b = sorted(rng.sample(present(tiff, ifd), 2))
    tiles[b] = tiles[b - 1] if tiles[b - 1][1] else tiles[a]
    tiff.set_tiles(ifd, tiles)
    return set()


def edited(tiff, rng):
    tiff.replace_text(b"KNOWN_INCOMPATIBLE_EDITION=NO\n ", b"KNOWN_INCOMPATIBLE_EDITION=YES\n")
    return {"incompatible-edition"}


def ghost_size_wrong(tiff, rng):
    at = tiff.data.find(b"METADATA_SIZE=") + 14
    size = int(tiff.data[at : at + 6]) + rng.choice((-40, -2, 2, 30))
    tiff.data[at : at + 6] = b"%06d" % size
    return {"main-ifd-position"}


def ghost_size_no_number(tiff, rng):
    at = tiff.data.find(b"METADATA_SIZE=") + 14
    tiff.data[at + rng.randrange(6)] = ord("x")
    return {"ghost-area"}


def ghost_text_wrong(tiff, rng):
    at = tiff.data.find(b"LAYOUT=")
    tiff.data[at + rng.randrange(20)] = rng.choice((0, 0x80, 0x1B))
    return {"ghost-area"}


def drop_overview(tiff, rng):
    gone = rng.choice(tiff.levels()[1:])
    tiff.relink([i for i in range(len(tiff.ifds)) if i != gone])
    return set()


def drop_all_overviews(tiff, rng):
    tiff.relink([0])
    return set()


def swap_overviews(tiff, rng):
    order = list(range(len(tiff.ifds)))
    levels = tiff.levels()
    a, b = order.index(levels[1]), order.index(levels[2])
    order[a], order[b] = order[b], order[a]
    tiff.relink(order)
    return {"overview-larger"}


def widen_overview(tiff, rng):
    ifd = tiff.levels()[1]
    tiff.set_values(ifd, WIDTH, [tiff.values(ifd, WIDTH)[0] - rng.randrange(20, 60)])
    return set()  # proportions: a warning


def index_at_the_end(tiff, rng):
    tiff.move_value(0, rng.choice((OFFSETS, COUNTS)))
    return set()  # a warning


def garbage_at_the_end(tiff, rng):
    tiff.append(rng.randbytes(200_000))
    return set()  # a note


def loop_the_chain(tiff, rng):
    tiff.put(tiff.word, tiff.ifds[-1].link_at, tiff.ifds[rng.randrange(len(tiff.ifds))].at)
    return {"chain-broken"}


def break_the_chain(tiff, rng):
    tiff.put(tiff.word, tiff.ifds[-1].link_at, len(tiff.data) + rng.randrange(100))
    return {"chain-broken"}


def shift_mask_tile(tiff, rng):
    masks = tiff.masks()
    if not masks:
        return break_leader(tiff, rng)
    tiles = tiff.tiles(masks[0])
    victim = rng.choice(present(tiff, masks[0]))
    offset, count = tiles[victim]
    tiles[victim] = (tiff.append(tiff.data[offset - 4 : offset + count + 4]) + 4, count)
    tiff.set_tiles(masks[0], tiles)
    return {"mask-interleave"}


def drop_mask(tiff, rng):
    masks = tiff.masks()
    if not masks:
        return break_trailer(tiff, rng)
    gone = rng.choice(masks[1:])
    tiff.relink([i for i in range(len(tiff.ifds)) if i != gone])
    return set()  # a warning


def untouched(tiff, rng):
    return set()


BREAKAGES = [
    swap_tiles, swap_offsets_only, shuffle_tiles, reverse_tiles_unpromised, truncate, truncate_last_trailer, move_last_ifd,
    move_overview_ifd, move_main_ifd, break_leader, break_trailer, zero_count, zero_tile, change_count, overlap_unpromised,
    past_end_unpromised, tile_in_the_header, same_tile_twice, edited, ghost_size_wrong, ghost_size_no_number,
    ghost_text_wrong, drop_overview, drop_all_overviews, swap_overviews, widen_overview, index_at_the_end,
    garbage_at_the_end, loop_the_chain, break_the_chain, shift_mask_tile, drop_mask, untouched,
]
# Warnings and notes that a breakage must raise, besides the errors that it returns.
MILDER = {
    "zero_count": "tile-empty", "drop_all_overviews": "overviews-missing", "widen_overview": "overview-size",
    "index_at_the_end": "tags-after-data", "garbage_at_the_end": "dead-space", "reverse_tiles_unpromised":
    "tile-order-unpromised", "same_tile_twice": "tile-shared",
}
