const PORT = String.raw`(?::\d{1,5}(?!\d))?`;
const IPV4 = String.raw`(?<![\w.]|version[ =:])(?:\d{1,3}\.){3}\d{1,3}(?![\w]|\.\d)`;
const IPV4_AND_PORT = new RegExp(`${IPV4}${PORT}`, 'gi');
const IPV4_HINT = /\d\.\d{1,3}\.\d/;

const IPV6_GROUPS = String.raw`(?:[0-9a-f]{0,4}:){2,8}(?:(?:\d{1,3}\.){3}\d{1,3}|[0-9a-f]{1,5}|(?<=::))`;
const ZONE = '(?:%[0-9a-z]{1,15})?';
const IPV6 = new RegExp(
  String.raw`\[(${IPV6_GROUPS})${ZONE}\]${PORT}|(?<![\w:.])(${IPV6_GROUPS})${ZONE}(?![\w:]|\.\d)`,
  'gi',
);
const IPV6_HINT = /[0-9a-f]:[0-9a-f:]|::[0-9a-f]/i;

const MAC =
  /(?<![\w:.-])(?:[0-9a-f]{2}(?::[0-9a-f]{2}){5}|[0-9a-f]{2}(?:-[0-9a-f]{2}){5}|[0-9a-f]{4}\.[0-9a-f]{4}\.[0-9a-f]{4})(?![\w-]|[:.]\w)/gi;
const MAC_HINT = /[0-9a-f]{2}[:-][0-9a-f]{2}[:-]|[0-9a-f]{4}\.[0-9a-f]{4}\./i;

/** But no versions. */
export const maskIpv4 = (text: string): string => (IPV4_HINT.test(text) ? text.replace(IPV4_AND_PORT, '<ip>') : text);

/** Must run before times and lines, which contain colons. */
export const maskIpv6 = (text: string): string =>
  IPV6_HINT.test(text)
    ? text.replace(IPV6, (whole, inBrackets?: string, bare?: string) =>
        isIpv6(inBrackets ?? bare ?? '') ? '<ip>' : whole,
      )
    : text;

/** Must run before IPv6 addresses. */
export const maskMac = (text: string): string => (MAC_HINT.test(text) ? text.replace(MAC, '<mac>') : text);

/** Eight groups, fewer around `::`, or a ninth as the port in Java. `face::cafe` has no digit. */
function isIpv6(candidate: string): boolean {
  if (!/\d/.test(candidate)) return false;
  const [before = '', after, ...more] = candidate.split('::');
  if (more.length > 0) return false;
  const groups = [before, after ?? ''].flatMap((side) => (side === '' ? [] : side.split(':')));
  const size = groups.length + (groups.at(-1)?.includes('.') ? 1 : 0);
  if (groups.slice(0, 8).some((group) => group === '' || (group.length > 4 && !group.includes('.')))) return false;
  return after === undefined ? size === 8 || (size === 9 && /^\d{1,5}$/.test(groups[8] ?? '')) : size <= 7;
}
