#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Adds up what the test runners left in a results folder. The last line is `N passed, N failed, N skipped`.

Reads gtest-*/ (one XML a binary, and CTest's own), pytest*.xml, checks.tsv (outcome, name, reason) and stages.tsv
(seconds, name). Fails when anything failed, or when nothing passed.
"""
import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path


class Tally:
    def __init__(self):
        self.count = Counter()
        self.failures = []
        self.skips = Counter()

    def add(self, outcome, name, reason=""):
        self.count[outcome] += 1
        if outcome == "failed":
            self.failures.append(f"{name}{': ' + reason if reason else ''}")
        elif outcome == "skipped":
            self.skips[reason or "no reason given"] += 1


def first_line(text):
    return (text or "").strip().splitlines()[0] if (text or "").strip() else ""


def add_gtest_folder(tally, folder):
    preset = folder.name.removeprefix("gtest-")
    binaries = {}  # CTest's name -> whether it passed
    if (folder / "ctest.junit").is_file():
        for case in ElementTree.parse(folder / "ctest.junit").getroot().iter("testcase"):
            binaries[case.get("name")] = case.get("status") == "run"
    for name, passed in sorted(binaries.items()):
        report = folder / f"test_{name}.xml"
        if not report.is_file():
            # A binary writes its report at its end: without one it crashed, hung or never started.
            tally.add("failed", f"{preset}: test_{name}", "died without a report")
            continue
        failed_before = tally.count["failed"]
        for case in ElementTree.parse(report).getroot().iter("testcase"):
            full_name = f"{preset}: {case.get('classname')}.{case.get('name')}"
            if case.get("status") == "notrun":
                continue  # outside the filter
            if (failure := case.find("failure")) is not None:
                tally.add("failed", full_name, first_line(failure.get("message")))
            elif (skipped := case.find("skipped")) is not None:
                lines = [line for line in (skipped.get("message") or "").splitlines() if line.strip()]
                tally.add("skipped", full_name, lines[-1] if lines else "")
            else:
                tally.add("passed", full_name)
        if not passed and tally.count["failed"] == failed_before:
            tally.add("failed", f"{preset}: test_{name}", "every test passed, the binary did not (a sanitizer, a timeout)")


def add_pytest(tally, report):
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        name = f"{case.get('classname')}::{case.get('name')}"
        failure = case.find("failure")
        error = case.find("error")
        skipped = case.find("skipped")
        if failure is not None or error is not None:
            tally.add("failed", name, first_line((failure if failure is not None else error).get("message")))
        elif skipped is not None:
            tally.add("skipped", name, first_line(skipped.get("message")))
        else:
            tally.add("passed", name)


def rows(path):
    return [line.split("\t") for line in path.read_text().splitlines() if line]


def main(folder):
    tally = Tally()
    for outcome, name, reason in rows(folder / "checks.tsv"):
        tally.add(outcome, name, reason)
    for gtest in sorted(folder.glob("gtest-*")):
        add_gtest_folder(tally, gtest)
    for report in sorted(folder.glob("pytest*.xml")):
        add_pytest(tally, report)

    print("\n== stage times")
    stages = rows(folder / "stages.tsv")
    for seconds, name in stages:
        print(f"{float(seconds):8.1f} s  {name}")
    print(f"{sum(float(seconds) for seconds, _ in stages):8.1f} s  in all")

    if tally.skips:
        print("\n== skipped, and why")
        for reason, count in tally.skips.most_common():
            print(f"{count:6d}  {reason}")
    if tally.failures:
        print("\n== failed")
        for failure in tally.failures:
            print(f"  {failure}")
    print()
    print(f"{tally.count['passed']} passed, {tally.count['failed']} failed, {tally.count['skipped']} skipped")
    return 1 if tally.count["failed"] or not tally.count["passed"] else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
