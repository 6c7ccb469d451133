#include "media/apart/main/confine.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <vector>

#include "media/apart/protocol.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ARRCOC_UNCONFINED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ARRCOC_UNCONFINED
#endif
#endif

namespace arrcoc::media {

namespace {

bool only_fonts_can_be_read(int film) {
  landlock_ruleset_attr all{};
  all.handled_access_fs =
      LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_READ_FILE |
      LANDLOCK_ACCESS_FS_READ_DIR | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
      LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
      LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK |
      LANDLOCK_ACCESS_FS_MAKE_SYM;
  const int rules = static_cast<int>(::syscall(SYS_landlock_create_ruleset, &all, sizeof all, 0));
  if (rules < 0) return false;
  for (const char* folder : {"/usr", "/lib", "/etc/fonts", "/var/cache/fontconfig"}) {
    landlock_path_beneath_attr below{};
    below.allowed_access = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
    below.parent_fd = ::open(folder, O_PATH | O_CLOEXEC);
    if (below.parent_fd < 0) continue;
    ::syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &below, 0);
    ::close(below.parent_fd);
  }
  landlock_path_beneath_attr same{LANDLOCK_ACCESS_FS_READ_FILE, film};
  if (film >= 0) ::syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &same, 0);
  const bool held = ::syscall(SYS_landlock_restrict_self, rules, 0) == 0;
  ::close(rules);
  return held;
}

#if defined(__x86_64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
constexpr uint32_t kArchitecture = 0;  // its numbers of system calls are not known here
#endif

// clang-format off
constexpr long kAllowed[] = {
    SYS_read, SYS_write, SYS_readv, SYS_writev, SYS_pread64, SYS_lseek, SYS_close, SYS_fstat,
    SYS_newfstatat, SYS_statx, SYS_fstatfs, SYS_getdents64, SYS_faccessat, SYS_readlinkat,
    SYS_getcwd, SYS_recvfrom, SYS_sendto, SYS_recvmsg, SYS_sendmsg, SYS_ppoll, SYS_mmap, SYS_munmap,
    SYS_mremap, SYS_mprotect, SYS_madvise, SYS_brk, SYS_futex, SYS_set_robust_list, SYS_rseq,
    SYS_sched_yield, SYS_sched_getaffinity, SYS_sched_getparam, SYS_sched_getscheduler,
    SYS_clock_gettime, SYS_clock_getres, SYS_clock_nanosleep, SYS_nanosleep, SYS_gettimeofday,
    SYS_getrusage, SYS_sysinfo, SYS_uname, SYS_getpid, SYS_gettid, SYS_getuid, SYS_geteuid,
    SYS_getgid, SYS_getegid, SYS_getrandom, SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn,
    SYS_sigaltstack, SYS_restart_syscall, SYS_exit, SYS_exit_group,
#ifdef __x86_64__
    SYS_stat, SYS_lstat, SYS_access, SYS_readlink, SYS_time, SYS_arch_prctl, SYS_poll,
#endif
};
// clang-format on

// One system call that is allowed if (argument & mask) == wanted.
struct Masked {
  long call;
  unsigned argument;
  uint32_t mask, wanted;
};
constexpr uint32_t kWrites = O_ACCMODE | O_CREAT | O_TRUNC;
constexpr Masked kMasked[] = {{SYS_openat, 2, kWrites, O_RDONLY},
#ifdef __x86_64__
                              {SYS_open, 1, kWrites, O_RDONLY},
#endif
                              {SYS_fcntl, 1, ~3U, 0},  // F_DUPFD to F_GETFL
                              {SYS_clone, 0, CLONE_THREAD | CLONE_VM, CLONE_THREAD | CLONE_VM}};

bool only_some_calls_work() {
  if (kArchitecture == 0) return false;
  std::vector<sock_filter> program;
  const auto load = [&](size_t offset) {
    program.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset)));
  };
  const auto end = [&](uint32_t what) { program.push_back(BPF_STMT(BPF_RET | BPF_K, what)); };
  const auto unless_equal = [&](uint32_t value, uint8_t skip) {
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skip));
  };
  load(offsetof(seccomp_data, arch));
  unless_equal(kArchitecture, 1);
  program.push_back(BPF_STMT(BPF_JMP | BPF_JA, 1));
  end(SECCOMP_RET_KILL_PROCESS);
  load(offsetof(seccomp_data, nr));
  for (const long call : kAllowed) {
    unless_equal(static_cast<uint32_t>(call), 1);
    end(SECCOMP_RET_ALLOW);
  }
  for (const Masked& one : kMasked) {
    unless_equal(static_cast<uint32_t>(one.call), 5);
    load(offsetof(seccomp_data, args) + 8 * one.argument);
    program.push_back(BPF_STMT(BPF_ALU | BPF_AND | BPF_K, one.mask));
    unless_equal(one.wanted, 1);
    end(SECCOMP_RET_ALLOW);
    end(SECCOMP_RET_ERRNO | EPERM);
  }
  // Its flags lie in memory, where a filter cannot look: libc goes back to clone.
  unless_equal(SYS_clone3, 1);
  end(SECCOMP_RET_ERRNO | ENOSYS);
  end(SECCOMP_RET_ERRNO | EPERM);
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter) == 0;
}

void limit(__rlimit_resource what, rlim_t most) {
  const rlimit value{most, most};
  ::setrlimit(what, &value);
}

}  // namespace

uint32_t confine([[maybe_unused]] int film) {
#ifdef ARRCOC_UNCONFINED
  return kNoFiles | kNoCalls;
#endif
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, 0);
  limit(RLIMIT_NOFILE, 64);
  uint32_t refused = 0;
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return kNoFiles | kNoCalls;
  if (!only_fonts_can_be_read(film)) refused |= kNoFiles;
  if (!only_some_calls_work()) refused |= kNoCalls;
  return refused;
}

}  // namespace arrcoc::media
