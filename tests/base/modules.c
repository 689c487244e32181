/* SPDX-License-Identifier: MIT */
/* The modules of another process: of its lines in /proc, and of files that this program makes. */
#include "base/modules_remote.h"

#include "support/common.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ORDER (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? ELFDATA2MSB : ELFDATA2LSB)

/* What a program of each word size begins with: its code is loaded at 0x1000, and its note is behind the headers. */
#define DECLARE(bits)                                                                              \
	static const struct program##bits {                                                        \
		Elf##bits##_Ehdr header;                                                           \
		Elf##bits##_Phdr segment[2];                                                       \
		Elf##bits##_Nhdr note;                                                             \
		char name[4], id[4];                                                               \
	} of_##bits = {                                                                            \
		.header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS##bits, ORDER, EV_CURRENT},    \
			   .e_phoff = offsetof(struct program##bits, segment),                     \
			   .e_phentsize = sizeof(Elf##bits##_Phdr),                                \
			   .e_phnum = 2},                                                          \
		.segment = {{.p_type = PT_LOAD, .p_vaddr = 0x1000},                                \
			    {.p_type = PT_NOTE,                                                    \
			     .p_offset = offsetof(struct program##bits, note),                     \
			     .p_filesz = sizeof(Elf##bits##_Nhdr) + 8}},                           \
		.note = {.n_namesz = 4, .n_descsz = 4, .n_type = NT_GNU_BUILD_ID},                 \
		.name = "GNU",                                                                     \
		.id = {0x12, 0x34, 0x56, 0x78},                                                    \
	}
DECLARE(32);
DECLARE(64);

static char path[] = "/tmp/posixtrace-modules.XXXXXX";

static void setup(void)
{
	int fd;

	strcpy(path + sizeof(path) - 7, "XXXXXX");
	fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	close(fd);
}

static void teardown(void)
{
	unlink(path);
}

static void write_file(const void *bytes, size_t size)
{
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);

	ck_assert_int_eq(write(fd, bytes, size), (ssize_t)size);
	close(fd);
}

/* Expect this list for a process that has the file at 0x56780000. */
static void expect_list(const char *expected)
{
	int fd = memfd_create("maps", MFD_CLOEXEC);
	char list[500];
	size_t length;

	ck_assert_int_ge(fd, 0);
	dprintf(fd, "56780000-56781000 r--p 00000000 fe:00 11 %s\n", path);
	dprintf(fd, "56781000-56782000 r-xp 00001000 fe:00 11 %s\n", path);
	dprintf(fd, "56782000-56783000 rw-p 00000000 00:00 0\n");
	lseek(fd, 0, SEEK_SET);
	length = px_modules_list_of_maps(fd, list, sizeof(list) - 1);
	list[length] = '\0';
	ck_assert_str_eq(list, expected);
	close(fd);
}

START_TEST(list_has_programs_of_both_word_sizes)
{
	char expected[300];

	snprintf(expected, sizeof(expected), "5677f000 56780000 56783000 12345678 %s\n", path);
	if (_i)
		write_file(&of_64, sizeof(of_64));
	else
		write_file(&of_32, sizeof(of_32));
	expect_list(expected);
}
END_TEST

START_TEST(list_leaves_out_what_is_no_program)
{
	struct program64 other = of_64;

	for (size_t size = 0; size < sizeof(other.header) + sizeof(other.segment); size++) {
		write_file(&of_64, size);
		expect_list("");
	}
	for (size_t size = 0; size < sizeof(of_32.header) + sizeof(of_32.segment); size++) {
		write_file(&of_32, size);
		expect_list("");
	}
	other.header.e_ident[EI_DATA] = ELFDATA2LSB + ELFDATA2MSB - ORDER;
	write_file(&other, sizeof(other));
	expect_list("");
	other = of_64;
	other.header.e_ident[EI_CLASS] = ELFCLASSNONE;
	write_file(&other, sizeof(other));
	expect_list("");
	other = of_64;
	other.header.e_phentsize = sizeof(Elf32_Phdr);
	write_file(&other, sizeof(other));
	expect_list("");
	other = of_64;
	other.segment[0].p_type = PT_NULL;
	write_file(&other, sizeof(other));
	expect_list("");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("modules");
	TCase *tcase = tcase_create("files");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, list_has_programs_of_both_word_sizes, 0, 2);
	tcase_add_test(tcase, list_leaves_out_what_is_no_program);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
