#!/bin/sh
# SPDX-License-Identifier: MIT
# The preloaded object where aarch64 checks branches (BTI) and returns (GCS).  The wrappers of vfork() and clone(), and
# the jumps to the real functions, are assembly code, so the compiler does not add the marks that they need.
. "${srcdir:-.}/tests/preload/acts.sh"
case $(uname -m) in aarch64) ;; *) echo 'SKIP: this is for aarch64'; exit 77 ;; esac
guarded_stack=$here/tests/preload/guarded_stack

# The object never says that it was tried with a GCS.  Then the loader turns GCS off, or refuses the program.
is 'marks for a GCS' 0 "$("${READELF:-readelf}" -nW "$object" | grep -c 'GCS')"

# Behind the call of the real vfork() is a mark for a child that jumps back, also if the object is not marked itself.
if command -v "${OBJDUMP:-objdump}" >/dev/null; then
	"${OBJDUMP:-objdump}" -d --no-show-raw-insn --disassemble=__vfork "$object" >code
	is 'calls by a register in vfork() with BTI J behind it' 1 \
		"$(awk '/\tblr\t/ { n++; getline; if (!/bti\tj|hint\t#0x24/) n += 100 } END { print n }' code)"
fi

# vfork() of glibc 2.41 and newer: the child does not return, it jumps.  And one that returns, as before.
library()
{
	cat >"$1.c" <<END
__asm__(".globl vfork\n.type vfork, %function\nvfork:\nhint #34\n"
	"mov x0, #0x4111\nmov x1, sp\nmov x8, #220\nsvc #0\ncbz x0, 1f\nret\n1: $2\n.size vfork, . - vfork\n");
END
	${CC:-cc} -shared -fPIC "$1.c" -o "$1.so" 2>"$1.err" ||
		complain "$1.c is not compiled: $(cat "$1.err")"
}
library jumps 'br x30'
library returns 'ret'

# The child of vfork() executes true.
cat >vforks.c <<'END'
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
	int status = 0;
	pid_t pid = vfork();
	if (pid == 0) {
		execlp("true", "true", (char *)0);
		_exit(9);
	}
	return pid < 0 || waitpid(pid, &status, 0) != pid || status != 0;
}
END
${CC:-cc} vforks.c -o vforks 2>err || complain "vforks.c: $(cat err)"
# The kernel and the processor check branches into an object that is marked for it.
cat >checks.c <<'END'
#include <sys/auxv.h>
int main(void)
{
	return !(getauxval(AT_HWCAP2) & 1 << 17); /* HWCAP2_BTI */
}
END
${CC:-cc} checks.c -o checks 2>err || complain "checks.c: $(cat err)"
is_marked=no
"${READELF:-readelf}" -nW "$object" | grep -q 'feature:.*BTI' && is_marked=yes

for library in jumps returns; do
	nr_checks=$((nr_checks + 1))
	LD_PRELOAD="$object $scratch/$library.so" TXTRACE_OUT="$library.trx" ./vforks >out 2>&1 ||
		complain "a program whose vfork() $library exits with $?: $(cat out)"
	"$tool" print --format jsonl -f 'vfork data.wait:ends' "$library.trx" >ends
	is "calls of a vfork() that $library" 1 "$(wc -l <ends)"
done
./checks || echo 'SKIP the targets of branches: this processor does not check them'
[ $is_marked = yes ] || echo 'SKIP the targets of branches: the object is not marked (-mbranch-protection=standard)'

# guarded GUARDED_STACK'S PRELOAD, CODE: what the model of a control stack says
guarded()
{
	GLIBC_TUNABLES=glibc.pthread.rseq=0 TXTRACE_OUT=guarded-%p.trx timeout 300 "$guarded_stack" "$1" >said 2>&1
	code=$?
	[ $code -ne 77 ] || return
	is "the model of a control stack, for $1: $(cat said)" "$2" $code
}
guarded "$scratch/returns.so" 1
guarded "$scratch/jumps.so" 0
guarded "$object $scratch/jumps.so" 0
[ $code -ne 77 ] || echo "SKIP the model of a control stack: $(cat said)"
finish
