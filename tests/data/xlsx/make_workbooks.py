#!/usr/bin/env python3
"""Writes predictions as VLMEvalKit saves them (pandas, to_excel), with both of pandas' writers.

    tests/data/xlsx/make_workbooks.py        (pandas, openpyxl, XlsxWriter)

Run once by developers; the tests read what it wrote.
"""

from pathlib import Path

import pandas

ROWS = pandas.DataFrame(
    {
        "index": [0, 1, 2, 3, 4],
        "question_id": ["kiwi-01/choice"] * 4 + ["kiwi-01/open"],
        "type": ["choice"] * 4 + ["open"],
        "shift": [0, 1, 2, 3, 0],
        "A": ["egg", "kiwi", "ball", "lime", None],
        "prediction": [
            "The answer is B.",
            'A\nIt is "green", <fuzzy> & small: 猕猴桃',
            "D\r\n",
            None,
            "_x0041_ kiwi",
        ],
        "score": [0.5, 1e-7, 3.0, None, 2.0],
    }
)

here = Path(__file__).resolve().parent
ROWS.to_excel(here / "openpyxl.xlsx", index=False, engine="openpyxl")
ROWS.to_excel(here / "xlsxwriter.xlsx", index=False, engine="xlsxwriter")
