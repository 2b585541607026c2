/**
 * Slugs that would change the system as `/etc/<slug>`, `/var/lib/<slug>` or `%ProgramData%\<slug>`
 * (contract 90, setup.json).
 */

/** Drop-in directories (`profile.d`, `sudoers.d`, …), periodic scripts and run levels. */
const DIRECTORY_FAMILY_PATTERN =
  /(\.d|\.conf|\.wants)$|^cron\.|^rc[0-9s]?$|^init($|[.-])|^systemd|^update-(agent|motd|notifier)/;

const DIRECTORY_NAMES = new Set(
  `acpi alternatives apache2 apparmor apparmor.d apt audit avahi binfmt ca-certificates ca-certificates.conf chrony containerd cron
  cups dbus dbus-1 default defaults dhcp dhcpcd dnf doas docker dpkg environment exim4 firewalld flatpak fonts fstab gdm gdm3 group
  grub gshadow gss host.conf hosts httpd initramfs-tools iproute2 iptables kernel kubelet kubernetes ld.so.cache ld.so.preload
  libvirt lightdm locale.gen login.defs logrotate lvm machine-id machines misc modprobe modules modules-load mysql netplan network
  networkd-dispatcher networkmanager nftables nginx openvpn opt os-release pacman pam passwd pki pm polkit-1 portables postfix
  postgresql ppp private profile python3 resolvconf rpm rsyslog runit sasl2 samba security selinux sgml shadow shells skel snapd
  snmp ssh sshd ssl sudo sudoers sv sysconfig sysctl terminfo tmpfiles ucf udev udisks2 ufw usb_modeswitch vim wireguard
  wpa_supplicant x11 xdg xinetd yum zsh zypp
  chocolatey microsoft packages regid.1991-06.com.microsoft usoshared windows`.split(/\s+/),
);

export const isSystemDirectoryName = (slug: string): boolean =>
  DIRECTORY_NAMES.has(slug) || DIRECTORY_FAMILY_PATTERN.test(slug);
