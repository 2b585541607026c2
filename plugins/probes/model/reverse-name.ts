/** `4.3.2.1.in-addr.arpa`, `1.0.….8.b.d.0.1.0.0.2.ip6.arpa`. */
const REVERSE_NAME_PATTERN = /^(?:(.*)\.)?(in-addr|ip6)\.arpa\.?$/i;

/** Returns a network's first address for a zone (`10.in-addr.arpa`); null for other names. */
export function parseReverseName(name: string): string | null {
  const [, labels = '', zone] = REVERSE_NAME_PATTERN.exec(name) ?? [];
  if (zone === undefined) return null;
  const isIPv4 = zone.toLowerCase() === 'in-addr';
  const [count, pattern] = isIPv4 ? ([4, /^\d{1,3}$/] as const) : ([32, /^[\da-f]$/i] as const);
  const given = labels.split('.').toReversed().slice(0, count);
  const end = given.findIndex((label) => !pattern.test(label));
  const digits = end === -1 ? given : given.slice(0, end);
  const all = [...digits, ...Array<string>(count - digits.length).fill('0')];
  if (isIPv4) return all.map(Number).join('.');
  return all.join('').match(/.{4}/g)?.join(':') ?? null;
}
