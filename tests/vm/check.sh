#!/bin/bash
# SPDX-License-Identifier: MIT
# check.sh [TEST...]: run the tests in a machine that qemu-system-aarch64 emulates, with a kernel of Debian.
#
# tests/arch/check.sh runs them by qemu-user, which has no restartable sequences.  This machine has them.  As root, on
# Debian.  The root directory and the build are those of tests/arch/check.sh arm64.  Environment: see
# tests/arch/root.sh, and
#	PX_VM_CPUS	processors of the machine (2)
#	PX_VM_CPU	model of the processor (max,pauth-impdef=on; cortex-a57 has no LSE)
#	PX_VM_SECONDS	when to give up (3600)
#	PX_VM_RUN	a command for the machine, instead of the tests; it begins in the directory of the build
set -u

# shellcheck source=tests/arch/root.sh
. "$(dirname "$0")/../arch/root.sh"
arch_choose arm64
vm=$arch_dir/vm-$arch_suite-$arch

# The suites of the sequences, of which each case takes at most minutes: about half an hour on two busy CPUs.  Two more
# run a process one instruction at a time thousands of times, see doc/portability.md; all others work, too.
tests="tests/ring/cpuring tests/stream/left tests/stream/own_rings tests/stream/abandoned tests/ring/ring
	tests/base/clock"
[ $# -eq 0 ] || tests=$*

# apt of the root directory, run from outside
its_apt()
{
	"$@" -q -o Dir="$arch_root" -o Dir::Bin::methods=/usr/lib/apt/methods -o APT::Architecture=arm64 \
		-o APT::Architectures=arm64 -o APT::Sandbox::User=root
}

# its_apt_get ARGUMENT...
its_apt_get()
{
	its_apt apt-get "$@"
}

fetch_kernel()
{
	local package
	its_apt_get update >"$vm/apt.log" 2>&1 || fail "no lists of packages, see $vm/apt.log"
	package=$(its_apt apt-cache depends linux-image-cloud-arm64 | sed -n 's/.*Depends: *\(linux-image-.*\)/\1/p')
	rm -rf "$vm/kernel"
	mkdir "$vm/kernel" || exit 1
	(cd "$vm/kernel" && its_apt_get download "${package:?}" && dpkg-deb -x ./*.deb .) >>"$vm/apt.log" 2>&1 ||
		fail "no kernel, see $vm/apt.log"
	rm -f "$vm"/kernel/*.deb
}

# A file system with the first process and the modules for its disks, and the disks themselves
make_initramfs()
{
	local number=0 module file
	rm -rf "$vm/initramfs"
	mkdir -p "$vm/initramfs/modules" || exit 1
	"$arch_triplet-gcc" --sysroot="$arch_root" -O2 -Wall -Wextra -static -o "$vm/initramfs/init" \
		"$arch_top/tests/vm/init.c" || fail 'no first process'
	for module in virtio virtio_ring virtio_mmio virtio_blk; do
		file=$(find "$vm/kernel" -name "$module.ko")
		[ -n "$file" ] || continue # it is in the kernel
		cp "$file" "$vm/initramfs/modules/$(printf %02d "$number").ko"
		number=$((number + 1))
	done
	(cd "$vm/initramfs" && find . | cpio -o -H newc --quiet) >"$vm/initramfs.cpio" ||
		fail 'no file system to boot'
}

# make_disk NAME DIRECTORY MB: a disk with these files
make_disk()
{
	rm -f "$vm/$1.img" "$vm/$1.new"
	mke2fs -q -t ext4 -O ^has_journal -d "$2" "$vm/$1.new" "$3M" || fail "no disk of $2"
	mv "$vm/$1.new" "$vm/$1.img" # never a part of a disk
}

# The sources and the build are at the same paths as outside.
make_work()
{
	rm -rf "$vm/work"
	mkdir -p "$vm/work$arch_top" "$vm/work$arch_build" || exit 1
	tar -C "$arch_top" --exclude=./build --exclude=./.git -cf - . | tar -C "$vm/work$arch_top" -xf - ||
		fail 'no copy of the sources'
	tar -C "$arch_build" --exclude='*.trs' -cf - . | tar -C "$vm/work$arch_build" -xf - ||
		fail 'no copy of the build'
	{
		printf 'top=%q build=%q tests=%q\n' "$arch_top" "$arch_build" "${tests//[[:space:]]/ }"
		printf 'command=%q\n' "${PX_VM_RUN:-}"
		cat "$arch_top/tests/vm/run.sh"
	} >"$vm/work/run"
	make_disk work "$vm/work" $(($(du -sm "$vm/work" | cut -f1) * 5 / 4 + 1000))
	rm -rf "$vm/work"
}

arch_make_root
want qemu-system-aarch64 qemu-system-arm
want cpio cpio
want mke2fs e2fsprogs
arch_make all || fail 'the build failed'
arch_make check TESTS= || fail 'the build of the tests failed'
mkdir -p "$vm" || exit 1
[ -e "$vm/kernel/boot" ] || fetch_kernel
make_initramfs
[ "$vm/root.img" -nt "$arch_root/.complete" ] ||
	make_disk root "$arch_root" $(($(du -sm "$arch_root" | cut -f1) * 5 / 4 + 500))
make_work

timeout "${PX_VM_SECONDS:-3600}" qemu-system-aarch64 -M virt,gic-version=3 -cpu "${PX_VM_CPU:-max,pauth-impdef=on}" \
	-accel tcg,thread=multi -smp "${PX_VM_CPUS:-2}" -m 3G -nographic -nodefaults -serial stdio -no-reboot \
	-kernel "$vm"/kernel/boot/vmlinuz-* -initrd "$vm/initramfs.cpio" -append 'console=ttyAMA0 quiet panic=-1' \
	-drive if=none,id=root,format=raw,snapshot=on,file="$vm/root.img" -device virtio-blk-device,drive=work \
	-drive if=none,id=work,format=raw,file="$vm/work.img" -device virtio-blk-device,drive=root \
	</dev/null >"$vm/console.log" 2>&1 || fail "the machine did not end by itself, see $vm/console.log"
for file in check.log status kernel.name; do
	debugfs -R "cat /$file" "$vm/work.img" 2>/dev/null >"$vm/$file"
done
if [ -n "${PX_VM_RUN:-}" ]; then
	cat "$vm/check.log"
else
	count_tests "$vm/check.log"
fi
echo "check-vm: arm64: $(cat "$vm/kernel.name"), log in $vm/check.log, console in $vm/console.log"
[ "$(cat "$vm/status")" = 0 ]
