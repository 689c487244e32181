#!/bin/sh
# SPDX-License-Identifier: MIT
# Programs from others behave with the object as without it, and their traces are right. The script reports a program
# that is not installed, and skips it.
. "${srcdir:-.}/tests/tool/lib.sh"
. "$top/tests/preload/objects.sh"

here=$(pwd)
cd "$scratch" || exit 99
work=$scratch/work

# same NAME COMMAND...: run it in a new directory with an input file; compare its output, and the files that it leaves
same()
{
	name=$1
	shift
	if ! command -v "$1" >/dev/null; then
		echo "SKIP $name: $1 is missing"
		return 1
	fi
	for way in plain traced; do
		rm -rf "$work"
		mkdir "$work"
		cd "$work" || exit 99
		if [ $way = plain ]; then
			"$@" >"$scratch/$name.$way" 2>"$scratch/$name.$way.err" <"$scratch/input"
		else
			traced "$scratch/$name.trx" "$@" >"$scratch/$name.$way" <"$scratch/input"
		fi
		echo "exit $?" >>"$scratch/$name.$way"
		find . -type f -exec cksum {} + | sort >>"$scratch/$name.$way"
		cd "$scratch" || exit 99
	done
	compare
}

compare()
{
	nr_checks=$((nr_checks + 2))
	cmp -s "$name.plain" "$name.traced" ||
		complain "$name does something else: $(diff "$name.plain" "$name.traced" | head -10)"
	right "$name.trx"
}

# A trace with calls, in which `txtrace check` reports nothing except full tables of threads and objects: how many locks
# a program waits for depends on the load of the machine.
right()
{
	! findings "$1" | grep -vE '\(log-un(named|listed)\)$' >"$scratch/findings" ||
		complain "$name: check: $(head -5 "$scratch/findings")"
	[ "$(names_and_data "$1" | wc -l)" -gt 5 ] || complain "$name: nothing was recorded"
}

awk 'BEGIN { for (i = 0; i < 20000; i++) print (i * 7919) % 20011, "a line of input", i }' >"$scratch/input"
cat >"$scratch/threads.py" <<'END'
import sys, threading, queue
lines = queue.Queue(4)
sums = []
def add():
    total = 0
    while (line := lines.get()) is not None:
        total += int(line.split()[0])
    sums.append(total)
threads = [threading.Thread(target=add) for _ in range(3)]
for thread in threads: thread.start()
for i, line in enumerate(sys.stdin):
    if i % 20 == 0: lines.put(line)
for _ in threads: lines.put(None)
for thread in threads: thread.join()
print(sum(sums))
END
cat >"$scratch/tables.sql" <<'END'
CREATE TABLE t (n INTEGER PRIMARY KEY, text TEXT);
WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 2000)
INSERT INTO t SELECT n, 'row ' || n FROM c;
CREATE INDEX i ON t (text);
SELECT count(*), sum(n), max(text) FROM t;
END

same sort sort --parallel=2 -S 1M
same xz xz -T2 --block-size=50000 -c
same tar tar --sort=name --mtime=@0 --owner=0 --group=0 -cf out.tar -C "$top" lib
same sqlite sqlite3 base.db ".read $scratch/tables.sql"
python=$(command -v /usr/bin/python3 || command -v python3)
same python "${python:-python3}" "$scratch/threads.py"
if has_program git git; then
	git init -q "$scratch/repository"
	(cd "$scratch/repository" && cp "$top"/lib/*/a*.c . && git add . &&
		git -c user.name=a -c user.email=a@b commit -q -m one) || complain 'git does not commit'
	same git git -C "$scratch/repository" --no-pager log --stat
fi

if command -v redis-server >/dev/null && command -v redis-benchmark >/dev/null; then
	name=redis
	traced redis.trx redis-server --port 0 --unixsocket "$scratch/redis" --save '' --dir "$scratch" \
		--daemonize no >redis.log &
	server=$!
	# The socket has a name before the server listens.
	if await redis-cli -s "$scratch/redis" ping >ping 2>&1; then
		redis-benchmark -s "$scratch/redis" -n 2000 -c 10 -q -t set,get >redis.bench 2>&1 ||
			complain "redis: $(cat redis.bench)"
		[ "$(redis-cli -s "$scratch/redis" set key value)" = OK ] || complain 'redis does not set'
		[ "$(redis-cli -s "$scratch/redis" get key)" = value ] || complain 'redis does not get'
		redis-cli -s "$scratch/redis" shutdown nosave >/dev/null 2>&1
	else
		kill "$server"
	fi
	wait "$server"
	right redis.trx
	[ "$(events_of redis.trx epoll_wait)" -gt 100 ] || complain 'redis: it did not wait'
else
	echo 'SKIP redis: redis-server or redis-benchmark is missing'
fi

if nginx=$(command -v nginx || command -v /usr/sbin/nginx) && command -v curl >/dev/null; then
	name=nginx
	mkdir -p "$scratch/www"
	cp input www/input
	cat >nginx.conf <<END
daemon off; master_process off; pid $scratch/nginx.pid; error_log $scratch/nginx.err;
events { worker_connections 64; }
http {
	access_log off; client_body_temp_path $scratch; proxy_temp_path $scratch; fastcgi_temp_path $scratch;
	uwsgi_temp_path $scratch; scgi_temp_path $scratch;
	server { listen unix:$scratch/nginx; root $scratch/www; }
}
END
	traced nginx.trx "$nginx" -p "$scratch" -e "$scratch/nginx.err" -c "$scratch/nginx.conf" >nginx.log 2>&1 &
	server=$!
	if await test -s "$scratch/nginx.pid"; then
		for round in 1 2 3; do
			curl -s --unix-socket "$scratch/nginx" http://here/input | cmp -s - input ||
				complain "nginx: round $round: another file"
		done
		kill -QUIT "$(cat nginx.pid)"
	fi
	wait "$server"
	right nginx.trx
else
	echo 'SKIP nginx: nginx or curl is missing'
fi
# A build of this project: each process has its own log, and the object files are the same as always.
build()
{
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL CCACHE_DISABLE=1 make -s -f "$scratch/makefile" -j2 \
		VPATH="$top/lib/txtb:$top/lib/ring:$top/lib/event" CC="${CC:-cc}" >"$scratch/make.out" 2>&1 ||
		complain "make, $1: $(tail -3 "$scratch/make.out")"
	cksum ./*.o libfew.a >"$scratch/make.$1"
}

if has_program make make; then
	name=make
	cat >makefile <<END
objects = txtb.o ring.o calls.o
libfew.a: \$(objects)
	ar rcD \$@ \$^
%.o: %.c
	\$(CC) -D_GNU_SOURCE -I$here -I$top/lib -I$top/include -O1 -c -o \$@ \$<
END
	rm -rf "$work"
	mkdir -p "$work" logs
	cd "$work" || exit 99
	build plain
	rm -f ./*
	(
		LD_PRELOAD=$object TXTRACE_OUT=$scratch/logs/%e.%p.trx TXTRACE_CHILDREN=yes
		export LD_PRELOAD TXTRACE_OUT TXTRACE_CHILDREN
		build traced
	)
	cd "$scratch" || exit 99
	nr_checks=$((nr_checks + 1))
	cmp -s make.plain make.traced || complain 'make makes something else'
	for program in make cc1 as ar; do
		# the name of the executable may contain the kind of machine: x86_64-linux-gnu-as
		ls logs | grep -qE "^(.*-)?$program(\.|-)" || complain "make: no log of $program: $(ls logs | head -5)"
	done
	for log in logs/*.trx*; do
		nr_checks=$((nr_checks + 1))
		"$tool" check --strict "$log" >check 2>&1 || complain "$log: $(tail -3 check)"
	done
	echo "make: $(ls logs | wc -l) logs"
fi
finish
