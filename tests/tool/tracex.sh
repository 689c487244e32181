#!/bin/sh
# SPDX-License-Identifier: MIT
# txtrace tracex: the reports of TraceX's dialogs in one page.
. "${srcdir:-.}/tests/tool/lib.sh"
make_samples
own_streams

for sample in threadx filex netx_tcp; do
	golden "tracex-$sample" tracex "$samples/$sample.trx"
done
golden tracex-html tracex --html "$samples/threadx.trx"

# The numbers are those of report.
for sample in threadx filex netx_tcp netx_udp; do
	nr_checks=$((nr_checks + 1))
	"$tool" tracex "$samples/$sample.trx" |
		sed -n '/^Context Switches/,/^Interrupts/s/   *\([0-9]*\)$/ \1/p' >"$scratch/page"
	"$tool" report --performance "$samples/$sample.trx" |
		sed -n '/^ *Context Switches/,/^ *Interrupts/s/^ *\(.*[a-z]\)   *\([0-9]*\)$/\1 \2/p' >"$scratch/report"
	[ -s "$scratch/page" ] || complain "tracex prints no statistics of $sample"
	cmp -s "$scratch/page" "$scratch/report" ||
		complain "tracex and report differ about $sample: $(diff "$scratch/page" "$scratch/report")"
done

# Names with characters of HTML.
printf 'Start\n4096, a <b> & c, AB, (0,0,0), (1,1,1), a, b, c, d\nEnd\n' >"$scratch/names.trxc"
"$(dirname "$tool")/../tests/threadx/client" write "$scratch/buffer.trx" || complain "client write exits with $?"
nr_checks=$((nr_checks + 2))
"$tool" tracex --html --names "$scratch/names.trxc" -o "$scratch/page.html" "$scratch/buffer.trx" ||
	complain 'tracex -o fails'
grep -qF '<td>a &lt;b&gt; &amp; c</td>' "$scratch/page.html" || complain 'a name is not escaped'
"$tool" tracex --names "$scratch/names.trxc" "$scratch/buffer.trx" | grep -qF 'a <b> & c ' ||
	complain 'there is no name'
fails 2 'exists' tracex -o "$scratch/page.html" "$scratch/buffer.trx"

"$(dirname "$tool")/../tests/tool/make_log" "$scratch/log.trx" whole || complain 'make_log fails'
fails 2 'is a log' tracex "$scratch/log.trx"
bad_files tracex
finish
