#!/bin/sh
# SPDX-License-Identifier: MIT
# The page of txtrace export --to html in a browser: ranges, bookmarks, explanations of waits, rows, counters, colours.
. "${srcdir:-.}/tests/tool/lib.sh"
. "$top/tests/tool/wait_samples.sh"

need_browser
make_samples
waits_make
helpers=$(dirname "$tool")/../tests/tool
for kind in orders spans; do
	sh "$top/tests/support/with-own-dir.sh" "$helpers/$kind" "$scratch/$kind.trx" >/dev/null || exit 99
done
"$helpers/mklog" "$scratch/steps.trx" 40 200 worker && cp "$scratch/steps.trx" "$scratch/some.trx" || exit 99
for kind in flags deadlock; do
	mv "$scratch/$kind" "$scratch/$kind.trx" || exit 99
done
make_mixture "$scratch/mixture.trx" && set -- "$scratch/mixture.trx" "$@"
make_preloaded "$scratch/queues.trx" "$helpers/queues" && set -- "$scratch/queues.trx" "$@"
"$tool" demo -o "$scratch/demo.trx" 2>/dev/null && set -- "$scratch/demo.trx" "$@"
PYTHONDONTWRITEBYTECODE=1 python3 "$top/tests/tool/html_features.py" "$tool" "$scratch" "$samples/threadx.trx" \
	"$scratch/flags.trx" "$scratch/deadlock.trx" "$scratch/orders.trx" "$scratch/spans.trx" \
	"$scratch/steps.trx" "$@" "$scratch/some.trx"
