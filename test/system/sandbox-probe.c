// Tries what a sandbox must refuse, and prints a line for each attempt: "name ok" or "name" and the error.
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <arpa/inet.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static void report(const char *name, long result) {
  printf("%s %s\n", name, result >= 0 ? "ok" : strerror(errno));
}

static long connectUnix(const char *path, int isAbstract) {
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  if (fd < 0) return -1;
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  strncpy(address.sun_path + isAbstract, path, sizeof(address.sun_path) - 2);
  return connect(fd, (struct sockaddr *)&address, offsetof(struct sockaddr_un, sun_path) + isAbstract + strlen(path));
}

static struct sockaddr_in onLoopback(int port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

int main(int argc, char **argv) {
  if (argc < 5) return 2;
  struct sockaddr_in server = onLoopback(atoi(argv[1]));
  report("tcp", connect(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)&server, sizeof server));
  struct sockaddr_in datagrams = onLoopback(atoi(argv[2]));
  // Within the sandbox's own loopback a datagram can be sent; nobody receives it.
  sendto(socket(AF_INET, SOCK_DGRAM, 0), "canary", 6, 0, (struct sockaddr *)&datagrams, sizeof datagrams);
  report("unix", connectUnix(argv[3], 0));
  report("abstract", connectUnix(argv[4], 1));
  report("vsock", socket(40, SOCK_STREAM, 0));
  report("packet", socket(AF_PACKET, SOCK_RAW, 0));
  report("ptrace", ptrace(PTRACE_TRACEME, 0, 0, 0));
  report("attach", ptrace(PTRACE_ATTACH, 1, 0, 0));
  char byte;
  struct iovec local = {&byte, 1}, remote = {&byte, 1};
  report("process_vm_readv", process_vm_readv(1, &local, 1, &remote, 1, 0));
  report("io_uring", syscall(425, 1, NULL));
  report("userns", unshare(CLONE_NEWUSER));
  report("mountns", unshare(CLONE_NEWNS));
  report("keyring", syscall(SYS_keyctl, 0, -3, 0));
  report("clone", syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0));
  report("setuid", setuid(12345));
  int pair[2];
  report("socketpair", socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
#ifdef __x86_64__
  report("x32", syscall(0x40000000 + 39));
#endif
  return 0;
}
