# SPDX-License-Identifier: MIT
"""The data in a page of `txtrace export --to html`."""
import base64
import json
import re

WAIT, LOCK = 0, 2  # kinds of spans


def _numbers(block):
    """Integers of 7 bits a byte, in base 64."""
    number = shift = 0
    for byte in base64.b64decode(block):
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield number
            number = shift = 0


def _signed(number):
    return number >> 1 if number % 2 == 0 else -(number >> 1) - 1


def facts_of(page):
    return json.loads(re.search(r'<script[^>]*id="facts"[^>]*>(.*?)</script>', page, re.S)[1])


def spans_of(page):
    """Yields (kind, number of the context, begin and end in ns, number of the name) of each span."""
    begin = 0
    for block in re.findall(r'<script[^>]*class="?spans"?[^>]*>(.*?)</script>', page, re.S):
        values = list(_numbers(block))
        for i in range(0, len(values), 8):
            kind, context, _, step, length, name, _, _ = values[i:i + 8]
            begin += _signed(step)
            yield kind & 7, context, begin, begin + length, name
