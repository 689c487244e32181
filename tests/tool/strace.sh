#!/bin/sh
# SPDX-License-Identifier: MIT
# The log has the calls of real programs, and how long they waited, as strace saw them in the same run. The C library
# also makes its own system calls, such as those for locales. So the script compares only calls that the program itself
# makes.
. "${srcdir:-.}/tests/tool/lib.sh"

own_preload || { echo 'SKIP: the object cannot be preloaded here'; exit 77; }
for program in strace python3; do
	command -v "$program" >/dev/null || { echo "SKIP: $program is missing"; exit 77; }
done
cd "$scratch" || exit 99
strace -o traced true 2>/dev/null || { echo 'SKIP: strace cannot trace a program here'; exit 77; }
own_streams
LC_ALL=C
PYTHONDONTWRITEBYTECODE=1
export LC_ALL PYTHONDONTWRITEBYTECODE

# same 'SYSCALL=CALL ...' COMMAND...
same()
{
	calls=$1
	shift
	has_program "$1" "$*" || return
	nr_checks=$((nr_checks + 1))
	rm -f log.trx
	strace -f -tt -T -o traced "$tool" record -q --preload -o log.trx "$@" >/dev/null 2>err ||
		complain "$* fails: $(cat err)"
	pid=$("$tool" report --processes log.trx 2>/dev/null | awk '/^ +[0-9]/ {print $1; exit}')
	# shellcheck disable=SC2086 # several words
	python3 "$top/tests/tool/strace.py" "$tool" log.trx traced "$pid" $calls >found 2>&1 ||
		complain "$*: $(cat found)"
}

head -c 1000000 /dev/zero >zeros
cat >talk.py <<'EOF'
import os, socket, time
a, b = socket.socketpair()
for i in range(50):
    a.send(b"question")
    b.recv(100)
time.sleep(0.03)
if os.fork() == 0:
    time.sleep(0.05)
    os._exit(3)
os.wait()
EOF
same 'read=read write=write' cat zeros
same 'read=read write=write lseek=lseek dup2=dup' dd if=/dev/zero of=copy bs=4k count=100 status=none
same 'clock_nanosleep=nanosleep' sleep 0.05
vfork=vfork=vfork
(cd "$(dirname "$tool")/.." && srcdir=$top sh "$top/tests/preload/wrappers.sh") | grep -q '^PX_WRAPPER(vfork,' ||
	vfork= # it has no wrapper on this machine
same "$vfork wait4=waitpid" sh -c 'for i in 1 2 3; do /bin/sleep 0.05; done; :'
same 'sendto=send recvfrom=recv wait4=waitpid clone=fork clock_nanosleep=clock_nanosleep' \
	"$(python3 -c 'import sys; print(sys.executable)')" -I talk.py
same 'read=read write=write' gzip -c zeros
finish
