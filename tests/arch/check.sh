#!/bin/bash
# SPDX-License-Identifier: MIT
# check.sh ARCH [TEST...]: build for another architecture of Debian, and run the tests on it, all of them or these.
#
# The tests run in a root directory with packages of that architecture only, so that the programs which they record are
# of that architecture, too.  A root of i386 runs on the processor itself, the others by qemu-user.  A cross compiler
# builds outside, because a compiler under qemu-user is slow.  As root, on Debian.  Environment:
#	PX_ARCH_DIR	where roots and builds are (build/arch)
#	PX_ARCH_SUITE	the suite of Debian (bookworm)
#	PX_ARCH_MIRROR	its mirror
#	PX_ARCH_CONFIGURE	more options of configure
set -u

arch=${1:?usage: check.sh ARCH [TEST...]}
shift
top=$(cd "$(dirname "$0")/../.." && pwd)
suite=${PX_ARCH_SUITE:-bookworm}
dir=${PX_ARCH_DIR:-$PWD/arch}

fail()
{
	echo "check-arch: $1" >&2
	exit 1
}

case $arch in
i386) triplet=i686-linux-gnu library=i386-linux-gnu qemu= ;;
armhf) triplet=arm-linux-gnueabihf library=$triplet qemu=qemu-arm ;;
arm64) triplet=aarch64-linux-gnu library=$triplet qemu=qemu-aarch64 ;;
riscv64) triplet=riscv64-linux-gnu library=$triplet qemu=qemu-riscv64 suite=${PX_ARCH_SUITE:-trixie} ;;
ppc64el) triplet=powerpc64le-linux-gnu library=$triplet qemu=qemu-ppc64le ;;
s390x) triplet=s390x-linux-gnu library=$triplet qemu=qemu-s390x ;;
amd64) triplet=x86_64-linux-gnu library=$triplet qemu= ;;
*) fail "unknown architecture $arch: i386, armhf, arm64, riscv64, ppc64el, s390x, amd64" ;;
esac
root=$dir/root-$suite-$arch
build=$dir/build-$suite-$arch
mkdir -p "$dir" || exit 1

# want COMMAND PACKAGE: the command is there, or a package of Debian brings it
want()
{
	command -v "$1" >/dev/null && return
	echo "check-arch: installing $2"
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$2" </dev/null >/dev/null 2>&1 ||
		fail "cannot install $2"
}

# What the tests need, and the library and the tool.
packages="build-essential,pkg-config,libelf-dev,check,libprotobuf-c-dev,protobuf-c-compiler,libbabeltrace2-dev"
packages=$packages,babeltrace2,libdw-dev,libsqlite3-dev,libedit-dev,zlib1g-dev,liblzma-dev,libzstd-dev,xz-utils,zstd
packages=$packages,git,python3,python3-jsonschema,sqlite3,gdb,groff,man-db,procps,util-linux

[ "$(id -u)" -eq 0 ] || fail 'only root can make a root directory of another architecture'
want mmdebstrap mmdebstrap
if [ -n "$qemu" ]; then
	want "$qemu-static" qemu-user-static
	want "$triplet-gcc" "gcc-$(echo "$triplet" | tr _ -)"
	[ -e /proc/sys/fs/binfmt_misc/register ] || mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc ||
		fail 'no binfmt_misc'
	[ -e "/proc/sys/fs/binfmt_misc/$qemu" ] || update-binfmts --enable "$qemu" || fail "no format $qemu"
fi

if [ ! -e "$root/.complete" ]; then
	echo "check-arch: $suite for $arch, in $root"
	rm -rf "$root"
	mmdebstrap --quiet --arch="$arch" --variant=minbase --mode=root --include="$packages" "$suite" "$root" \
		"${PX_ARCH_MIRROR:-http://deb.debian.org/debian}" || fail 'no root directory'
	touch "$root/.complete"
fi

# in_root COMMAND...: in a mount and a process name space of its own; the sources and the build are at the same paths
in_root()
{
	# shellcheck disable=SC2016
	unshare -m -p -f --kill-child bash -c '
		root=$1 top=$2 dir=$3
		shift 3
		mount --make-rprivate / && mount -t proc proc "$root/proc" && mount --rbind /dev "$root/dev" &&
			mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm" && mount -t sysfs sysfs "$root/sys" &&
			mkdir -p "$root$top" "$root$dir" && mount --bind "$top" "$root$top" &&
			mount --bind "$dir" "$root$dir" || exit 99
		case $root in *-i386) set -- linux32 chroot "$root" "$@" ;; *) set -- chroot "$root" "$@" ;; esac
		exec env -i HOME=/root TERM=dumb LANG=C PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"' - \
		"$root" "$top" "$dir" "$@"
}

set -e
mkdir -p "$build"
jobs=${PX_ARCH_JOBS:-$(getconf _NPROCESSORS_ONLN)}
if [ -n "$qemu" ]; then
	# The root has its shared objects by absolute links, which a compiler outside cannot follow.
	find "$root/usr/lib/$library" -maxdepth 1 -type l -lname '/*' | while read -r link; do
		ln -srf "$root$(readlink "$link")" "$link"
	done
	export PKG_CONFIG_SYSROOT_DIR="$root" PKG_CONFIG_LIBDIR="$root/usr/lib/$library/pkgconfig:$root/usr/share/pkgconfig"
	# shellcheck disable=SC2086  # options
	[ -e "$build/config.status" ] || (cd "$build" &&
		"$top/configure" -q --host="$triplet" CC="$triplet-gcc --sysroot=$root" CXX="${CXX:-no}" \
			${PX_ARCH_CONFIGURE:-})
	make -C "$build" -s -k -j"$jobs" all
	make -C "$build" -s -k -j"$jobs" check TESTS=
else
	# shellcheck disable=SC2086  # options
	[ -e "$build/config.status" ] ||
		in_root sh -c "cd '$build' && '$top/configure' -q ${PX_ARCH_CONFIGURE:-}"
	in_root make -C "$build" -s -k -j"$jobs" all
	in_root make -C "$build" -s -k -j"$jobs" check TESTS=
fi
set +e
status=0
in_root make -C "$build" -s -k -j"$jobs" check CC=gcc CXX=g++ PKG_CONFIG=pkg-config ${1:+"TESTS=$*"} >"$build/check.log" 2>&1 ||
	status=1
grep -aE '^(PASS|FAIL|SKIP|ERROR): ' "$build/check.log" | cut -d: -f1 | sort | uniq -c
grep -aE '^(FAIL|ERROR): ' "$build/check.log"
echo "check-arch: $arch: $(uname -r), log in $build/check.log"
exit $status
