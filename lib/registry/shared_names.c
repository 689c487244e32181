/* SPDX-License-Identifier: MIT */
#include "registry/shared_names.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

#include "base/layout.h"
#include "base/procfs.h"
#include "base/procfs_maps.h"

#define SHARED_NAMES_MAGIC PX_LAYOUT_MAGIC(0x79646d61667870)
/* Another process is freeing the entry; no process has this word. */
#define TAKEN UINT64_C(1)
/* Flag in the number of a private table; the other bits are a pid. */
#define PRIVATE UINT32_C(0x80000000)
#define SEGMENTS_MAX 1024	     /* search at most this many segments of a process */

int px_shared_names_make_private(struct px_shared_names_ref *ref)
{
	void *memory = mmap(NULL, sizeof(struct px_shared_names), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return ENOMEM;
	ref->shared_names = memory;
	ref->number = PRIVATE | (uint32_t)getpid();
	return 0;
}

/* The kernel knows no segment of this number.  A system call filter answers something else. */
static int check_control(void)
{
	struct shmid_ds status;

	return shmctl(-1, IPC_STAT, &status) == 0 || errno == EINVAL || errno == EIDRM ? 0 : errno;
}

static void *attach(int id)
{
	void *memory = shmat(id, NULL, 0);

	if (memory != (void *)-1)
		madvise(memory, sizeof(struct px_shared_names), MADV_DONTFORK);
	return memory;
}

void px_shared_names_keep(const struct px_shared_names_ref *ref)
{
	madvise(ref->shared_names, sizeof(struct px_shared_names), MADV_DOFORK);
}

bool px_shared_names_are_scarce(void)
{
	struct shminfo limits;
	struct shm_info used;

	return shmctl(0, IPC_INFO, (struct shmid_ds *)(void *)&limits) >= 0 &&
	       shmctl(0, SHM_INFO, (struct shmid_ds *)(void *)&used) >= 0 &&
	       (unsigned long)used.used_ids >= limits.shmmni / 2;
}

static bool give_to(int id, uid_t owner)
{
	struct shmid_ds status;

	if (owner == geteuid())
		return true;
	if (shmctl(id, IPC_STAT, &status) != 0)
		return false;
	status.shm_perm.uid = owner;
	return shmctl(id, IPC_SET, &status) == 0;
}

bool px_shared_names_is_private(uint32_t number)
{
	return (number & PRIVATE) != 0;
}

int px_shared_names_prepare(uid_t owner, struct px_shared_names_ref *ref)
{
	void *memory;
	bool given;
	int id;

	/* Without shmctl(), no process can check a segment, or remove it. */
	if (check_control() != 0)
		return ENOMEM;
	id = shmget(IPC_PRIVATE, sizeof(struct px_shared_names), IPC_CREAT | 0600);
	ref->number = (uint32_t)id + 1;
	memory = id < 0 ? (void *)-1 : attach(id);
	given = id >= 0 && give_to(id, owner);
	if (id >= 0)
		/* The kernel removes the segment when no process has it attached. */
		shmctl(id, IPC_RMID, NULL);
	if (memory == (void *)-1)
		return ENOMEM;
	if (!given) {
		shmdt(memory);
		return EPERM;
	}
	ref->shared_names = memory;
	return 0;
}

int px_shared_names_check(void)
{
	int saved_errno = errno, error = check_control(), id;
	void *memory;

	if (!error) {
		id = shmget(IPC_PRIVATE, sizeof(struct px_shared_names), IPC_CREAT | 0600);
		memory = id < 0 ? (void *)-1 : attach(id);
		error = memory == (void *)-1 ? errno : 0;
		if (id >= 0)
			shmctl(id, IPC_RMID, NULL);
		if (!error)
			shmdt(memory);
	}
	errno = saved_errno;
	return error;
}

int px_shared_names_make(uid_t owner, struct px_shared_names_ref *ref)
{
	int error = px_shared_names_prepare(owner, ref);

	if (!error)
		px_store_release(&ref->shared_names->magic, SHARED_NAMES_MAGIC);
	return error;
}

/*
 * Remove from the set the types that have no name in the copy.  The thread that was opening such a type opens it again,
 * and may get another id.
 */
static void mask_opened(struct px_shared_names *shared_names, struct px_eventset *opened)
{
	char text[PX_NAME_MAX + 1];

	for (unsigned int id = PX_EVENT_USER_FIRST; id < PX_EVENT_IDS; id++)
		if (px_eventset_has(opened, id) &&
		    px_names_get(&shared_names->names, id, text) != 0)
			opened->bits[id / 64] &= ~(UINT64_C(1) << id % 64);
}

void px_shared_names_complete(struct px_shared_names *shared_names)
{
	px_names_settle_copy(&shared_names->names);
	px_descriptions_settle_copy(&shared_names->descriptions);
	for (int i = 0; i < PX_SHARED_NAMES_MEMBERS; i++) {
		struct px_shared_names_member *member = &shared_names->member[i];

		if (member->word == 0 || member->word == TAKEN)
			*member = (struct px_shared_names_member){0};
		else
			mask_opened(shared_names, &member->opened);
	}
	px_store_release(&shared_names->magic, SHARED_NAMES_MAGIC);
}

/*
 * A process can change the owner of its segment to another user, so check the creator too.  Root creates some tables
 * for other users.
 */
static bool is_ours(uint32_t number, uid_t owner)
{
	struct shmid_ds status;

	return shmctl((int)(number - 1), IPC_STAT, &status) == 0 && status.shm_perm.uid == owner &&
	       (status.shm_perm.cuid == owner || status.shm_perm.cuid == 0) &&
	       (status.shm_perm.mode & 077) == 0 &&
	       status.shm_segsz == sizeof(struct px_shared_names);
}

int px_shared_names_attach(uint32_t number, uid_t owner, struct px_shared_names_ref *ref)
{
	int saved_errno = errno;
	int error = EACCES;
	uint64_t magic;
	void *memory;

	if (number == 0 || (number & PRIVATE))
		return ENOENT;
	/*
	 * Do not attach a segment that is not ours.  Check again after the attach, because the kernel cannot reuse the
	 * number of an attached segment.
	 */
	if (is_ours(number, owner)) {
		PX_TESTPOINT("shared_names.attach.checked");
		memory = attach((int)(number - 1));
		error = memory != (void *)-1 ? 0 : errno;
		if (!error && !is_ours(number, owner)) {
			shmdt(memory);
			error = EACCES;
		}
	}
	errno = saved_errno;
	if (error)
		return error;
	ref->shared_names = memory;
	ref->number = number;
	magic = px_load_acquire(&ref->shared_names->magic);
	if (magic == SHARED_NAMES_MAGIC)
		return 0;
	px_shared_names_detach(ref);
	return magic == 0 ? EAGAIN : EACCES;
}

void px_shared_names_detach(struct px_shared_names_ref *ref)
{
	if (ref->shared_names && (ref->number & PRIVATE))
		munmap(ref->shared_names, sizeof(struct px_shared_names));
	else if (ref->shared_names)
		shmdt(ref->shared_names);
	*ref = (struct px_shared_names_ref){NULL, 0};
}

/*
 * Return the incarnation in which the process joined this table, or 0 if it has not joined.  If the process joins
 * another table later, the number of that table is larger.
 */
static uint64_t join_number(struct px_shared_names *shared_names, uint64_t word)
{
	struct px_shared_names_member *member = px_shared_names_find(shared_names, word);

	return member ? px_read_once(&member->incarnation) : 0;
}

int px_shared_names_of(uint32_t pid, uid_t owner, uint32_t *number, bool *has_entered)
{
	uint64_t word = px_procfs_word(pid, px_procfs_start(pid));
	uint32_t id[SEGMENTS_MAX];
	int nr = px_procfs_segments(pid, id, SEGMENTS_MAX);
	uint64_t last = 0;

	*number = 0;
	for (int i = 0; i < nr; i++) {
		struct px_shared_names_ref ref;
		uint64_t joined;

		if (px_shared_names_attach(id[i] + 1, owner, &ref) != 0)
			continue;
		joined = join_number(ref.shared_names, word);
		if (*number == 0 || joined > last) {
			*number = ref.number;
			last = joined;
		}
		px_shared_names_detach(&ref);
	}
	*has_entered = last != 0;
	return nr < 0 ? -nr : 0;
}

struct px_shared_names_member *px_shared_names_find(struct px_shared_names *shared_names,
						    uint64_t word)
{
	for (int i = 0; word != 0 && i < PX_SHARED_NAMES_MEMBERS; i++)
		if (px_load_acquire(&shared_names->member[i].word) == word)
			return &shared_names->member[i];
	return NULL;
}

static bool is_dead(uint64_t word)
{
	return word != 0 && word != TAKEN && !px_procfs_has_word(word);
}

/* Free the entry if it still has this word.  Return false if the word has changed. */
static bool free_entry(struct px_shared_names_member *member, uint64_t word)
{
	/* If a process is killed here, the entry stays TAKEN forever.  There are enough other entries. */
	if (!px_compare_exchange(&member->word, word, TAKEN))
		return false;
	for (size_t i = 0; i < PX_EVENTSET_WORDS; i++)
		px_write_once(&member->opened.bits[i], 0);
	px_write_once(&member->incarnation, 0);
	px_store_release(&member->word, UINT64_C(0));
	return true;
}

static bool free_dead_entries(struct px_shared_names *shared_names)
{
	bool found = false;

	for (int i = 0; i < PX_SHARED_NAMES_MEMBERS; i++) {
		struct px_shared_names_member *member = &shared_names->member[i];
		uint64_t word = px_load_acquire(&member->word);

		found |= is_dead(word) && free_entry(member, word);
	}
	return found;
}

static struct px_shared_names_member *take_entry(struct px_shared_names *shared_names,
						 uint64_t word)
{
	for (int i = 0; i < PX_SHARED_NAMES_MEMBERS; i++) {
		struct px_shared_names_member *member = &shared_names->member[i];
		struct px_shared_names_member *first;

		if (px_read_once(&member->word) != 0 ||
		    !px_compare_exchange(&member->word, UINT64_C(0), word))
			continue;
		PX_TESTPOINT("shared_names.place.taken");
		first = px_shared_names_find(shared_names, word);
		if (!first || first == member)
			return member;
		free_entry(member, word);
		return first;
	}
	return NULL;
}

struct px_shared_names_member *px_shared_names_enter(struct px_shared_names *shared_names,
						     uint64_t word)
{
	struct px_shared_names_member *member = px_shared_names_find(shared_names, word);

	if (!member && word != 0)
		member = take_entry(shared_names, word);
	if (!member && word != 0 && free_dead_entries(shared_names))
		member = take_entry(shared_names, word);
	return member;
}

/* A line of /proc/sysvipc/shm begins with: key id perms size creator last nr_attached uid gid cuid. */
static bool is_left_over(const char *line, int *id)
{
	unsigned int perms, nr_attached, maker;
	size_t size;
	int creator;

	return sscanf(line, "%*d %d %o %zu %d %*d %u %*u %*u %u", id, &perms, &size, &creator,
		      &nr_attached, &maker) == 6 &&
	       size == sizeof(struct px_shared_names) && (perms & 0777) == 0600 &&
	       nr_attached == 0 && maker == geteuid() && creator > 0 && kill(creator, 0) != 0 &&
	       errno == ESRCH;
}

void px_shared_names_sweep(void)
{
	FILE *file = fopen("/proc/sysvipc/shm", "re");
	char line[512];
	int id;

	while (file && fgets(line, sizeof(line), file))
		if (is_left_over(line, &id))
			shmctl(id, IPC_RMID, NULL);
	if (file)
		fclose(file);
}
