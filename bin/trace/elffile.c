/* SPDX-License-Identifier: MIT */
#include "trace/elffile.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define OWN_CLASS (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32)
#define OWN_OPTIONS (__BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB)

/* Bytes of the file; NULL: they do not lie in it. */
static const void *bytes_at(const struct elf_file *file, uint64_t offset, uint64_t size)
{
	if (offset > file->size || size > file->size - offset)
		return NULL;
	return file->bytes + offset;
}

/* A string that ends in the file, and ahead of end. */
static const char *string_at(const struct elf_file *file, uint64_t offset, uint64_t end)
{
	end = end < file->size ? end : file->size;
	if (offset >= end || !memchr(file->bytes + offset, '\0', end - offset))
		return NULL;
	return (const char *)file->bytes + offset;
}

/* The headers may stand anywhere: they are copied, so that none is misaligned. */
static bool get_segment(const struct elf_file *file, unsigned int i, ElfW(Phdr) * segment)
{
	ElfW(Ehdr) header;
	const void *at;

	memcpy(&header, file->bytes, sizeof(header));
	if (i >= header.e_phnum || header.e_phentsize != sizeof(*segment))
		return false;
	at = bytes_at(file, header.e_phoff + (uint64_t)i * sizeof(*segment), sizeof(*segment));
	if (at)
		memcpy(segment, at, sizeof(*segment));
	return at != NULL;
}

static bool get_section(const struct elf_file *file, unsigned int i, ElfW(Shdr) * section)
{
	ElfW(Ehdr) header;
	const void *at;

	memcpy(&header, file->bytes, sizeof(header));
	if (i >= header.e_shnum || header.e_shentsize != sizeof(*section))
		return false;
	at = bytes_at(file, header.e_shoff + (uint64_t)i * sizeof(*section), sizeof(*section));
	if (at)
		memcpy(section, at, sizeof(*section));
	return at != NULL;
}

static bool find_segment(const struct elf_file *file, uint32_t type, ElfW(Phdr) * segment)
{
	for (unsigned int i = 0; get_segment(file, i, segment); i++)
		if (segment->p_type == type)
			return true;
	return false;
}

static bool map_file(struct elf_file *file, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat status;
	void *bytes;

	if (fd < 0)
		return false;
	if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size < EI_NIDENT + 8) {
		close(fd);
		errno = ENOEXEC;
		return false;
	}
	bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (bytes == MAP_FAILED)
		return false;
	*file = (struct elf_file){.bytes = bytes, .size = (size_t)status.st_size};
	return true;
}

/* The type and the machine stand at the same place in both classes. */
static unsigned int half_at(const struct elf_file *file, size_t offset)
{
	const unsigned char *at = file->bytes + offset;

	return file->order == ELFDATA2MSB ? at[0] << 8 | at[1] : at[1] << 8 | at[0];
}

bool elf_open(struct elf_file *file, const char *path)
{
	ElfW(Phdr) segment;

	if (!map_file(file, path))
		return false;
	if (memcmp(file->bytes, ELFMAG, SELFMAG) != 0) {
		elf_close(file);
		errno = ENOEXEC;
		return false;
	}
	file->elf_class = file->bytes[EI_CLASS];
	file->order = file->bytes[EI_DATA];
	file->machine = half_at(file, offsetof(Elf64_Ehdr, e_machine));
	file->is_native = file->elf_class == OWN_CLASS && file->order == OWN_OPTIONS &&
			  file->size >= sizeof(ElfW(Ehdr));
	file->is_program = half_at(file, offsetof(Elf64_Ehdr, e_type)) == ET_EXEC ||
			   half_at(file, offsetof(Elf64_Ehdr, e_type)) == ET_DYN;
	file->is_fixed = half_at(file, offsetof(Elf64_Ehdr, e_type)) == ET_EXEC;
	if (file->is_native && find_segment(file, PT_INTERP, &segment))
		file->interpreter = string_at(file, segment.p_offset,
					      segment.p_offset + segment.p_filesz);
	return true;
}

void elf_close(struct elf_file *file)
{
	if (file->bytes)
		munmap((void *)(uintptr_t)file->bytes, file->size);
	*file = (struct elf_file){0};
}

/* Where in the file that is which will be at an address. */
static uint64_t offset_of(const struct elf_file *file, uint64_t address)
{
	ElfW(Phdr) segment;

	for (unsigned int i = 0; get_segment(file, i, &segment); i++)
		if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
		    address - segment.p_vaddr < segment.p_filesz)
			return segment.p_offset + (address - segment.p_vaddr);
	return UINT64_MAX;
}

static bool get_dynamic(const struct elf_file *file, size_t i, ElfW(Dyn) * entry)
{
	ElfW(Phdr) segment;
	const void *at;

	if (!file->is_native || !find_segment(file, PT_DYNAMIC, &segment) ||
	    i >= segment.p_filesz / sizeof(*entry))
		return false;
	at = bytes_at(file, segment.p_offset + (uint64_t)i * sizeof(*entry), sizeof(*entry));
	if (at)
		memcpy(entry, at, sizeof(*entry));
	return at && entry->d_tag != DT_NULL;
}

static uint64_t offset_of_strings(const struct elf_file *file)
{
	ElfW(Dyn) entry;

	for (size_t i = 0; get_dynamic(file, i, &entry); i++)
		if (entry.d_tag == DT_STRTAB)
			return offset_of(file, entry.d_un.d_ptr);
	return UINT64_MAX;
}

const char *elf_needed(const struct elf_file *file, size_t i)
{
	uint64_t strings = file->is_native ? offset_of_strings(file) : UINT64_MAX;
	ElfW(Dyn) entry;

	for (size_t at = 0; strings < file->size && get_dynamic(file, at, &entry); at++)
		if (entry.d_tag == DT_NEEDED && i-- == 0)
			return entry.d_un.d_val < file->size ?
				       string_at(file, strings + entry.d_un.d_val, file->size) :
				       NULL;
	return NULL;
}

bool elf_next_symbol(const struct elf_file *file, size_t *i, struct elf_symbol *symbol)
{
	ElfW(Shdr) table, strings;
	ElfW(Sym) found;
	unsigned int number = 0;

	if (!file->is_native)
		return false;
	while (get_section(file, number, &table) && table.sh_type != SHT_DYNSYM)
		number++;
	if (!get_section(file, number, &table) || !get_section(file, table.sh_link, &strings))
		return false;
	for (; *i < table.sh_size / sizeof(found); (*i)++) {
		const void *at = bytes_at(file, table.sh_offset + *i * sizeof(found),
					  sizeof(found));

		if (!at)
			return false;
		memcpy(&found, at, sizeof(found));
		if (found.st_name == 0 || found.st_name >= strings.sh_size)
			continue;
		symbol->name = string_at(file, strings.sh_offset + found.st_name,
					 strings.sh_offset + strings.sh_size);
		symbol->is_defined = found.st_shndx != SHN_UNDEF;
		if (!symbol->name)
			continue;
		(*i)++;
		return true;
	}
	return false;
}

const unsigned char *elf_section(const struct elf_file *file, const char *name, size_t *size)
{
	ElfW(Shdr) section, names;
	ElfW(Ehdr) header;

	if (!file->is_native)
		return NULL;
	memcpy(&header, file->bytes, sizeof(header));
	if (!get_section(file, header.e_shstrndx, &names))
		return NULL;
	for (unsigned int i = 0; get_section(file, i, &section); i++) {
		const char *own = string_at(file, names.sh_offset + section.sh_name,
					    names.sh_offset + names.sh_size);

		if (!own || strcmp(own, name) != 0)
			continue;
		*size = section.sh_size;
		return bytes_at(file, section.sh_offset, section.sh_size);
	}
	return NULL;
}

static bool put_build_id(const unsigned char *annotations, size_t size, char *hex, size_t hex_size)
{
	ElfW(Nhdr) note;

	while (size > sizeof(note)) {
		size_t name, length;

		memcpy(&note, annotations, sizeof(note));
		name = sizeof(note) + ((size_t)note.n_namesz + 3) / 4 * 4;
		length = name + ((size_t)note.n_descsz + 3) / 4 * 4;
		if (length > size)
			return false;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    memcmp(annotations + sizeof(note), "GNU", 4) == 0 &&
		    (size_t)2 * note.n_descsz < hex_size) {
			for (size_t i = 0; i < note.n_descsz; i++)
				snprintf(hex + 2 * i, 3, "%02x", annotations[name + i]);
			return note.n_descsz > 0;
		}
		annotations += length;
		size -= length;
	}
	return false;
}

void elf_build_id(const struct elf_file *file, char *hex, size_t size)
{
	ElfW(Phdr) segment;

	for (unsigned int i = 0; file->is_native && get_segment(file, i, &segment); i++) {
		const void *annotations = segment.p_type == PT_NOTE ?
						  bytes_at(file, segment.p_offset,
							   segment.p_filesz) :
						  NULL;

		if (annotations && put_build_id(annotations, segment.p_filesz, hex, size))
			return;
	}
	snprintf(hex, size, "-");
}

const char *elf_kind(const struct elf_file *file)
{
	static const struct {
		unsigned int machine;
		const char *name;
	} machines[] = {
		{EM_386, "x86"},	 {EM_X86_64, "x86-64"}, {EM_ARM, "ARM"},
		{EM_AARCH64, "AArch64"}, {EM_RISCV, "RISC-V"},	{EM_PPC64, "PowerPC"},
		{EM_S390, "S/390"},	 {EM_MIPS, "MIPS"},	{EM_LOONGARCH, "LoongArch"}};
	static char text[4][48];
	static unsigned int turn;
	const char *name = "another machine";

	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		if (machines[i].machine == file->machine)
			name = machines[i].name;
	turn = (turn + 1) % 4;
	snprintf(text[turn], sizeof(text[turn]), "%s-bit %s%s",
		 file->elf_class == ELFCLASS64 ? "64" : "32", name,
		 file->order == OWN_OPTIONS ? "" : ", other byte order");
	return text[turn];
}
