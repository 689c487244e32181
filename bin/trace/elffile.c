/* SPDX-License-Identifier: MIT */
#include "trace/elffile.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OWN_ORDER (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB)

/*
 * libelf copies the bytes that it reads.  A sparse file can be larger than the memory, and several headers can name the
 * same bytes.  So do not read a part that is too large for a real file.
 */
#define PART_MAX (64 << 20)
#define ANNOTATIONS_MAX (1 << 20) /* limit for all segments together */

static Elf_Data *read_part(Elf *elf, uint64_t offset, uint64_t size, uint64_t most, Elf_Type type)
{
	return size <= most ? elf_getdata_rawchunk(elf, (int64_t)offset, size, type) : NULL;
}

/* Opening. */

static bool find_segment(Elf *elf, GElf_Word type, GElf_Phdr *segment)
{
	size_t nr = 0;

	elf_getphdrnum(elf, &nr);
	for (size_t i = 0; i < nr && gelf_getphdr(elf, (int)i, segment); i++)
		if (segment->p_type == type)
			return true;
	return false;
}

static const char *read_interpreter(Elf *elf)
{
	GElf_Phdr segment;
	Elf_Data *data;

	if (!find_segment(elf, PT_INTERP, &segment))
		return NULL;
	data = read_part(elf, segment.p_offset, segment.p_filesz, PATH_MAX, ELF_T_BYTE); /* Linux has the same limit */
	return data && data->d_size > 0 && memchr(data->d_buf, '\0', data->d_size) ? data->d_buf :
										     NULL;
}

/* Return the bytes that the loader puts at this address, or NULL. */
static Elf_Data *read_loaded(Elf *elf, GElf_Addr address, size_t size)
{
	GElf_Phdr segment;
	size_t nr = 0;

	elf_getphdrnum(elf, &nr);
	for (size_t i = 0; i < nr && gelf_getphdr(elf, (int)i, &segment); i++)
		if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
		    address - segment.p_vaddr < segment.p_filesz)
			return read_part(elf, segment.p_offset + (address - segment.p_vaddr), size,
					 PART_MAX, ELF_T_BYTE);
	return NULL;
}

/* Use segments only, as the loader does, so that a file without sections works too. */
static void read_dynamic(struct elffile *file)
{
	GElf_Addr names = 0;
	size_t size = 0;
	GElf_Phdr segment;
	GElf_Dyn entry;

	if (!find_segment(file->elf, PT_DYNAMIC, &segment))
		return;
	file->dynamic =
		read_part(file->elf, segment.p_offset, segment.p_filesz, PART_MAX, ELF_T_DYN);
	for (int i = 0; file->dynamic && gelf_getdyn(file->dynamic, i, &entry); i++) {
		if (entry.d_tag == DT_NULL)
			break;
		if (entry.d_tag == DT_STRTAB)
			names = entry.d_un.d_ptr;
		else if (entry.d_tag == DT_STRSZ)
			size = entry.d_un.d_val;
	}
	file->dynamic_names = read_loaded(file->elf, names, size);
}

static bool is_short(Elf_Scn *section)
{
	GElf_Shdr header;

	return section && gelf_getshdr(section, &header) && header.sh_size <= PART_MAX;
}

static void read_symbols(struct elffile *file)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(file->elf, section)))
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_DYNSYM) {
			if (is_short(section) && is_short(elf_getscn(file->elf, header.sh_link)))
				file->symbols = elf_getdata(section, NULL);
			file->symbol_names = header.sh_link;
			return;
		}
}

static int open_regular(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat status;

	if (fd >= 0 && (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))) {
		close(fd);
		errno = ENOEXEC;
		return -1;
	}
	return fd;
}

bool elffile_open(struct elffile *file, const char *path)
{
	GElf_Ehdr header;

	*file = (struct elffile){0};
	file->fd = open_regular(path);
	if (file->fd < 0)
		return false;
	elf_version(EV_CURRENT);
	/* Do not map the file: if the file becomes shorter, a read fails, but an access to a mapping causes SIGBUS. */
	file->elf = elf_begin(file->fd, ELF_C_READ, NULL);
	if (!file->elf || elf_kind(file->elf) != ELF_K_ELF || !gelf_getehdr(file->elf, &header)) {
		elf_end(file->elf);
		close(file->fd);
		*file = (struct elffile){0};
		errno = ENOEXEC;
		return false;
	}
	file->elf_class = header.e_ident[EI_CLASS];
	file->order = header.e_ident[EI_DATA];
	file->machine = header.e_machine;
	file->is_program = header.e_type == ET_EXEC || header.e_type == ET_DYN;
	file->interpreter = read_interpreter(file->elf);
	read_dynamic(file);
	read_symbols(file);
	return true;
}

void elffile_close(struct elffile *file)
{
	if (file->elf) {
		elf_end(file->elf);
		close(file->fd);
	}
	*file = (struct elffile){0};
}

/* Contents. */

/* Return the string at the offset, or NULL if it does not end within the data. */
static const char *string_at(const Elf_Data *data, uint64_t offset)
{
	const char *bytes = data->d_buf;

	if (offset >= data->d_size || !memchr(bytes + offset, '\0', data->d_size - offset))
		return NULL;
	return bytes + offset;
}

const char *elffile_next_needed(const struct elffile *file, size_t *i)
{
	GElf_Dyn entry;

	if (!file->dynamic || !file->dynamic_names)
		return NULL;
	while (gelf_getdyn(file->dynamic, (int)*i, &entry) && entry.d_tag != DT_NULL) {
		(*i)++;
		if (entry.d_tag == DT_NEEDED)
			return string_at(file->dynamic_names, entry.d_un.d_val);
	}
	return NULL;
}

bool elffile_next_symbol(const struct elffile *file, size_t *i, struct elffile_symbol *symbol)
{
	GElf_Sym found;

	while (file->symbols && gelf_getsym(file->symbols, (int)*i, &found)) {
		(*i)++;
		symbol->name = elf_strptr(file->elf, file->symbol_names, found.st_name);
		symbol->is_defined = found.st_shndx != SHN_UNDEF;
		if (symbol->name && *symbol->name)
			return true;
	}
	return false;
}

const void *elffile_section(const struct elffile *file, const char *name, size_t *size)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	Elf_Data *data;
	size_t names;

	if (elf_getshdrstrndx(file->elf, &names) != 0 || !is_short(elf_getscn(file->elf, names)))
		return NULL;
	while ((section = elf_nextscn(file->elf, section))) {
		const char *own = gelf_getshdr(section, &header) ?
					  elf_strptr(file->elf, names, header.sh_name) :
					  NULL;

		if (!own || strcmp(own, name) != 0)
			continue;
		data = is_short(section) ? elf_rawdata(section, NULL) : NULL;
		*size = data ? data->d_size : 0;
		return data ? data->d_buf : NULL;
	}
	return NULL;
}

static bool find_build_id(Elf_Data *annotations, char *hex, size_t size)
{
	size_t next, name, id;
	GElf_Nhdr header;

	for (size_t at = 0; (next = gelf_getnote(annotations, at, &header, &name, &id));
	     at = next) {
		const unsigned char *bytes = annotations->d_buf;

		if (header.n_type != NT_GNU_BUILD_ID || header.n_namesz != sizeof("GNU") ||
		    memcmp(bytes + name, "GNU", sizeof("GNU")) != 0 || header.n_descsz == 0 ||
		    header.n_descsz >= (size + 1) / 2)
			continue;
		for (size_t i = 0; i < header.n_descsz; i++)
			snprintf(hex + 2 * i, 3, "%02x", bytes[id + i]);
		return true;
	}
	return false;
}

void elffile_build_id(const struct elffile *file, char *hex, size_t size)
{
	uint64_t most = ANNOTATIONS_MAX;
	GElf_Phdr segment;
	size_t nr = 0;

	elf_getphdrnum(file->elf, &nr);
	for (size_t i = 0; i < nr && gelf_getphdr(file->elf, (int)i, &segment); i++) {
		Elf_Data *annotations;

		if (segment.p_type != PT_NOTE)
			continue;
		annotations = read_part(file->elf, segment.p_offset, segment.p_filesz, most,
					segment.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
		if (!annotations)
			continue;
		if (find_build_id(annotations, hex, size))
			return;
		most -= segment.p_filesz;
	}
	snprintf(hex, size, "-");
}

const char *elffile_kind(const struct elffile *file)
{
	static const struct {
		unsigned int machine;
		const char *name;
	} machines[] = {
		{EM_386, "x86"},	 {EM_X86_64, "x86-64"}, {EM_ARM, "ARM"},
		{EM_AARCH64, "AArch64"}, {EM_RISCV, "RISC-V"},	{EM_PPC64, "PowerPC"},
		{EM_S390, "S/390"},	 {EM_MIPS, "MIPS"},	{258 /* EM_LOONGARCH */, "LoongArch"}};
	static char text[4][48];
	static unsigned int turn;
	const char *name = "another machine";

	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		if (machines[i].machine == file->machine)
			name = machines[i].name;
	turn = (turn + 1) % 4;
	snprintf(text[turn], sizeof(text[turn]), "%s-bit %s%s",
		 file->elf_class == ELFCLASS64 ? "64" : "32", name,
		 file->order == OWN_ORDER ? "" : ", other byte order");
	return text[turn];
}
