import ipaddr from 'ipaddr.js';

const OCTET = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
/** Covers nearly all calls. */
const IPV4_PATTERN = new RegExp(`^(?:${OCTET}\\.){3}${OCTET}$`);

/**
 * Returns the network that limits count: an IPv4 address, or the /64 of an IPv6 address, which one
 * customer can vary freely.
 */
export function getClientNetwork(address: string): string {
  if (IPV4_PATTERN.test(address)) return address;
  const plain = address.split('%', 1)[0]?.toLowerCase() ?? '';
  const parsed = ipaddr.IPv4.isValidFourPartDecimal(plain) || plain.includes(':') ? parseAddress(plain) : null;
  if (parsed === null) return plain;
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  if (parsed.isIPv4MappedAddress()) return parsed.toIPv4Address().toString();
  const network = parsed.parts.slice(0, 4).map((part) => part.toString(16));
  return `${network.join(':')}::/64`;
}

/** Returns the /24 of an IPv4, the /48 of an IPv6 address, for evidence from independent places. */
export function getOperatorNetwork(address: string): string {
  const network = getClientNetwork(address);
  if (IPV4_PATTERN.test(network)) return `${network.split('.').slice(0, 3).join('.')}.0/24`;
  const ipv6 = network.endsWith('::/64') ? network.split(':').slice(0, 3) : null;
  return ipv6 === null ? network : `${ipv6.join(':')}::/48`;
}

const parseAddress = (text: string): ipaddr.IPv4 | ipaddr.IPv6 | null =>
  ipaddr.isValid(text) ? ipaddr.parse(text) : null;
