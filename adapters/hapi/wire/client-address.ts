/**
 * The peer's, or the last untrusted one in `X-Forwarded-For` if the peer is a trusted proxy
 * (contract 00, limits).
 */
import { BlockList, isIP } from 'node:net';

export type AddressResolver = (peer: string | undefined, forwarded: string | string[] | undefined) => string;

/**
 * @param unlisted called with an untrusted peer that sends `X-Forwarded-For`
 * @throws TypeError naming an invalid entry
 */
export function createAddressResolver(
  trusted: readonly string[],
  unlisted: (peer: string) => void = () => undefined,
): AddressResolver {
  const list = new BlockList();
  for (const entry of trusted) addEntry(list, entry);
  const isTrusted = (address: string): boolean => {
    const family = isIP(address);
    return family !== 0 && list.check(address, family === 6 ? 'ipv6' : 'ipv4');
  };
  return (peer, forwarded) => {
    let address = normalizeAddress(peer ?? '');
    if (forwarded === undefined) return address;
    if (!isTrusted(address)) {
      if (address !== '') unlisted(address);
      return address;
    }
    const chain = (Array.isArray(forwarded) ? forwarded.join() : forwarded).split(',');
    for (let i = chain.length - 1; i >= 0; i--) {
      const next = normalizeAddress(chain[i] ?? '');
      // An entry that is not an address gives no information; the last valid one counts.
      if (isIP(next) === 0) return address;
      address = next;
      if (!isTrusted(address)) return address;
    }
    return address;
  };
}

function addEntry(list: BlockList, entry: string): void {
  const [address = '', bits, ...rest] = entry.trim().split('/');
  const family = isIP(address);
  const most = family === 6 ? 128 : 32;
  const prefix = bits === undefined ? most : Number(bits);
  if (family === 0 || rest.length > 0 || !/^\d*$/.test(bits ?? '') || !(prefix >= 0 && prefix <= most)) {
    throw new TypeError(`trusted proxy ${JSON.stringify(entry)} is neither an address nor a range like 10.0.0.0/8`);
  }
  list.addSubnet(address, prefix, family === 6 ? 'ipv6' : 'ipv4');
}

function normalizeAddress(text: string): string {
  let address = text.trim();
  if (address.startsWith('['))
    address = address.slice(1, address.indexOf(']') === -1 ? undefined : address.indexOf(']'));
  else if (/^\d+\.\d+\.\d+\.\d+:\d+$/.test(address)) address = address.slice(0, address.indexOf(':'));
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address;
}
