# SPDX-License-Identifier: MIT
"""damage.py SEED DIRECTORY FILE...: write copies of files with random damage into a directory."""

import os
import random
import sys

random.seed(int(sys.argv[1]))
for path in sys.argv[3:]:
    with open(path, "rb") as file:
        whole = file.read(200000)
    for i in range(6):
        data = bytearray(whole)
        for _ in range(random.choice((1, 10, 200))):
            at = random.choice((random.randrange(len(data)), random.randrange(min(len(data), 4096))))
            data[at] = random.choice((0, 255, random.randrange(256)))
        if i % 3 == 2:
            del data[random.randrange(len(data)):]
        with open(os.path.join(sys.argv[2], f"{os.path.basename(path)}.{i}"), "wb") as file:
            file.write(data)
