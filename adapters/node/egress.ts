/**
 * "This network", link-local and metadata addresses, multicast and 240/4 are always blocked
 * (contract 70, delivery, egress). An IPv4 address embedded in an IPv6 address (mapped, compatible,
 * NAT64, 6to4, Teredo) is checked as that IPv4 address.
 */
import ipaddr from 'ipaddr.js';
import { stripBrackets } from '../../lib/host.js';
import type { EgressPolicy } from '../../ports/outbound.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Network = [Address, number];

const parseNetworks = (...list: string[]): Network[] => list.map((text) => ipaddr.parseCIDR(text));

const ALWAYS_BLOCKED_NETWORKS = parseNetworks(
  '0.0.0.0/8',
  '169.254.0.0/16',
  '224.0.0.0/4',
  '240.0.0.0/4',
  'fe80::/10',
  'ff00::/8',
  // Metadata and control addresses outside the link-local range: Alibaba, Oracle, Azure, AWS,
  // Google, Oracle.
  '100.100.100.200/32',
  '192.0.0.192/32',
  '168.63.129.16/32',
  'fd00:ec2::254/128',
  'fd00:ec2::23/128',
  'fd20:ce::254/128',
  'fd00:c1::a9fe:a9fe/128',
);
const LOOPBACK_IPV6 = ipaddr.parse('::1');
const GLOBAL_IPV6_NETWORKS = parseNetworks('2000::/3');

/** Prefix, byte offset, and whether the address is inverted. */
const EMBEDDED_IPV4_RANGES: readonly [Network, offset: number, inverted: boolean][] = [
  [ipaddr.parseCIDR('::ffff:0:0/96'), 12, false],
  [ipaddr.parseCIDR('::ffff:0:0:0/96'), 12, false],
  [ipaddr.parseCIDR('::/96'), 12, false],
  [ipaddr.parseCIDR('64:ff9b::/96'), 12, false],
  [ipaddr.parseCIDR('2002::/16'), 2, false],
  [ipaddr.parseCIDR('2001::/32'), 12, true],
];

/**
 * NAT64 with a local prefix (RFC 8215). Only the network knows the prefix length, so all positions
 * of the IPv4 address are checked (RFC 6052).
 */
const LOCAL_NAT64_NETWORKS = parseNetworks('64:ff9b:1::/48');
const LOCAL_NAT64_BYTE_POSITIONS: readonly (readonly [number, number, number, number])[] = [
  [12, 13, 14, 15],
  [6, 7, 9, 10],
  [7, 9, 10, 11],
  [9, 10, 11, 12],
];

const isInNetworks = (address: Address, list: readonly Network[]): boolean =>
  list.some(
    ([base, bits]) => base.kind() === address.kind() && address.match([base, bits] as [typeof address, number]),
  );

function toEffectiveAddress(address: Address): Address {
  if (address.kind() === 'ipv4' || address.toString() === LOOPBACK_IPV6.toString()) return address;
  const bytes = address.toByteArray();
  const found = EMBEDDED_IPV4_RANGES.find(([network]) => isInNetworks(address, [network]));
  if (!found) return address;
  const [, offset, inverted] = found;
  return new ipaddr.IPv4(bytes.slice(offset, offset + 4).map((byte) => (inverted ? byte ^ 0xff : byte)));
}

function listNat64Targets(address: Address): Address[] {
  if (!isInNetworks(address, LOCAL_NAT64_NETWORKS)) return [];
  const bytes = address.toByteArray();
  const found = LOCAL_NAT64_BYTE_POSITIONS.map((places) => places.map((place) => bytes[place] ?? 0));
  // The zeros before the address look like 0/8 at the other positions, where nothing is reachable.
  return found.filter(([first]) => first !== 0).map((four) => new ipaddr.IPv4(four));
}

function isGlobal(address: Address): boolean {
  if (address.kind() === 'ipv6' && !isInNetworks(address, GLOBAL_IPV6_NETWORKS)) return false;
  return address.range() === 'unicast';
}

function isAllowed(addresses: readonly Address[], policy: EgressPolicy): boolean {
  return policy.allow.some((cidr) => {
    if (!ipaddr.isValidCIDR(cidr)) return false;
    const network = ipaddr.parseCIDR(cidr);
    return addresses.some((address) => isInNetworks(address, [network]));
  });
}

/** @param text without brackets */
export function findAddressBlock(text: string, policy: EgressPolicy): string | null {
  const plain = text.replace(/%.*$/, '');
  if (!ipaddr.isValid(plain)) return `${text} is not an address`;
  const written = ipaddr.parse(plain);
  const target = toEffectiveAddress(written);
  const reached = [written, target, ...listNat64Targets(written)];
  if (reached.some((address) => isInNetworks(address, ALWAYS_BLOCKED_NETWORKS)))
    return `the address ${text} is never allowed`;
  if (policy.mode === 'private-ok' || isGlobal(target) || isAllowed([written, target], policy)) return null;
  return `the address ${text} is not a public one`;
}

/**
 * Returns whether an address is globally reachable.
 * @param text address as a socket reports it
 */
export function isPublicAddress(text: string): boolean {
  const plain = text.replace(/%.*$/, '');
  return ipaddr.isValid(plain) && isGlobal(toEffectiveAddress(ipaddr.parse(plain)));
}

export type UrlRejection = { fault: 'invalid_url' | 'blocked'; reason: string };

export function parseLiteralHost(url: URL): string | null {
  const host = stripBrackets(url.hostname);
  return ipaddr.isValid(host) ? host : null;
}

export function checkUrl(text: string, policy: EgressPolicy): URL | UrlRejection {
  if (!URL.canParse(text)) return { fault: 'invalid_url', reason: 'the URL is not valid' };
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return { fault: 'invalid_url', reason: 'the URL must start with http:// or https://' };
  }
  if (url.username !== '' || url.password !== '') {
    return { fault: 'invalid_url', reason: 'the URL must not contain a user name or password' };
  }
  const literal = parseLiteralHost(url);
  const reason = literal === null ? null : findAddressBlock(literal, policy);
  return reason === null ? url : { fault: 'blocked', reason };
}
