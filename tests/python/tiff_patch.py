# SPDX-License-Identifier: Apache-2.0
"""A TIFF file as bytes to be damaged: directories, tags and tile indexes found, and written back in place."""

import struct

SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4, 16: 8, 17: 8, 18: 8}
LETTERS = {3: "H", 4: "I", 16: "Q"}

SUBFILE_TYPE, WIDTH, HEIGHT, OFFSETS, COUNTS = 254, 256, 257, 324, 325


class Entry:
    def __init__(self, tag, kind, count, entry_at, value_at):
        self.tag, self.kind, self.count, self.entry_at, self.value_at = tag, kind, count, entry_at, value_at

    @property
    def size(self):
        return self.count * SIZES.get(self.kind, 0)


class Ifd:
    def __init__(self, at, link_at, end, entries):
        self.at, self.link_at, self.end, self.entries = at, link_at, end, entries


class Tiff:
    """Little-endian only. `ifds` is parsed once: relink() moves directories, after which it is read again."""

    def __init__(self, data):
        self.data = bytearray(data)
        self.big = self.data[2] == 43
        self.word = "Q" if self.big else "I"
        self.word_size = 8 if self.big else 4
        self.first_link_at = 8 if self.big else 4
        self.parse()

    def get(self, letter, at):
        return struct.unpack_from("<" + letter, self.data, at)[0]

    def put(self, letter, at, value):
        struct.pack_into("<" + letter, self.data, at, value)

    def parse(self):
        self.ifds = []
        link_at = self.first_link_at
        while at := self.get(self.word, link_at):
            count = self.get("Q" if self.big else "H", at)
            first = at + (8 if self.big else 2)
            stride = 20 if self.big else 12
            entries = {}
            for i in range(count):
                entry_at = first + i * stride
                tag, kind = struct.unpack_from("<HH", self.data, entry_at)
                items = self.get(self.word, entry_at + 4)
                value_at = entry_at + 4 + self.word_size
                if items * SIZES.get(kind, 0) > self.word_size:
                    value_at = self.get(self.word, value_at)
                entries[tag] = Entry(tag, kind, items, entry_at, value_at)
            link_at = first + count * stride
            self.ifds.append(Ifd(at, link_at, link_at + self.word_size, entries))

    def values(self, ifd, tag):
        entry = self.ifds[ifd].entries[tag]
        return list(struct.unpack_from(f"<{entry.count}{LETTERS[entry.kind]}", self.data, entry.value_at))

    def set_values(self, ifd, tag, values):
        entry = self.ifds[ifd].entries[tag]
        struct.pack_into(f"<{entry.count}{LETTERS[entry.kind]}", self.data, entry.value_at, *values)

    def tiles(self, ifd):
        return list(zip(self.values(ifd, OFFSETS), self.values(ifd, COUNTS)))

    def set_tiles(self, ifd, tiles):
        self.set_values(ifd, OFFSETS, [offset for offset, _ in tiles])
        self.set_values(ifd, COUNTS, [count for _, count in tiles])

    def subfile_type(self, ifd):
        return self.values(ifd, SUBFILE_TYPE)[0] if SUBFILE_TYPE in self.ifds[ifd].entries else 0

    def levels(self):
        """Directories of the image and its overviews, largest first as they are chained."""
        return [i for i in range(len(self.ifds)) if not self.subfile_type(i) & 4]

    def masks(self):
        return [i for i in range(len(self.ifds)) if self.subfile_type(i) & 4]

    def relink(self, order):
        """Chains the directories in another order; those left out are dropped."""
        links = [self.first_link_at] + [self.ifds[i].link_at for i in order]
        targets = [self.ifds[i].at for i in order] + [0]
        for at, target in zip(links, targets):
            self.put(self.word, at, target)
        self.parse()

    def append(self, data):
        if len(self.data) % 2:
            self.data.append(0)
        at = len(self.data)
        self.data += data
        return at

    def move_ifd(self, index):
        """Copies a directory (not the values of its tags) to the end of the file."""
        ifd = self.ifds[index]
        inlined = [e for e in ifd.entries.values() if e.size <= self.word_size]
        at = self.append(self.data[ifd.at : ifd.end])
        assert inlined  # values inside entries move along
        self.put(self.word, self.first_link_at if index == 0 else self.ifds[index - 1].link_at, at)
        self.parse()

    def move_value(self, index, tag):
        entry = self.ifds[index].entries[tag]
        assert entry.size > self.word_size
        at = self.append(self.data[entry.value_at : entry.value_at + entry.size])
        self.put(self.word, entry.entry_at + 4 + self.word_size, at)
        self.parse()

    def replace_text(self, old, new):
        assert len(old) == len(new) and self.data.count(old) == 1, (old, new)
        at = self.data.find(old)
        self.data[at : at + len(old)] = new
