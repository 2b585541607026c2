/**
 * Resolves which installed .NET framework version an application would use, by the host's published
 * rules: dotnet/runtime, docs/design/features/framework-version-resolution.md.
 */

export const ROLL_FORWARD_POLICIES = [
  'LatestPatch',
  'Minor',
  'Major',
  'LatestMinor',
  'LatestMajor',
  'Disable',
] as const;
export type RollForwardPolicy = (typeof ROLL_FORWARD_POLICIES)[number];

export interface FrameworkReference {
  name: string;
  version: string;
  policy: RollForwardPolicy;
  applyPatches: boolean;
}

interface FrameworkVersion {
  text: string;
  numbers: readonly [number, number, number];
  pre: readonly string[];
}

const VERSION_PATTERN = /^(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?$/;

function parseVersion(text: string): FrameworkVersion | null {
  const match = VERSION_PATTERN.exec(text);
  if (match === null) return null;
  const pre = match[4]?.split('.') ?? [];
  return { text, numbers: [Number(match[1]), Number(match[2]), Number(match[3])], pre };
}

export const isFrameworkVersion = (text: string): boolean => parseVersion(text) !== null;

const isRelease = ({ pre }: FrameworkVersion): boolean => pre.length === 0;

function compareVersions(a: FrameworkVersion, b: FrameworkVersion): number {
  for (const at of [0, 1, 2] as const) if (a.numbers[at] !== b.numbers[at]) return a.numbers[at] - b.numbers[at];
  if (isRelease(a) || isRelease(b)) return Number(isRelease(a)) - Number(isRelease(b));
  for (let at = 0; at < Math.max(a.pre.length, b.pre.length); at++) {
    const order = compareIdentifiers(a.pre[at], b.pre[at]);
    if (order !== 0) return order;
  }
  return 0;
}

function compareIdentifiers(a: string | undefined, b: string | undefined): number {
  if (a === undefined || b === undefined) return a === b ? 0 : a === undefined ? -1 : 1;
  const [x, y] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (x && y) return Number(a) - Number(b);
  if (x !== y) return x ? -1 : 1;
  return a === b ? 0 : a < b ? -1 : 1;
}

/** @returns null when the application would not start */
export function resolveFramework(
  reference: Omit<FrameworkReference, 'name'>,
  installed: readonly string[],
  toPrerelease = false,
): string | null {
  const wanted = parseVersion(reference.version);
  if (wanted === null) return null;
  const all = installed.map(parseVersion).filter((version) => version !== null);
  const releases = all.filter(isRelease);
  // A release prefers releases, and only then uses pre-releases.
  const first = isRelease(wanted) && !toPrerelease ? pickVersion(reference, wanted, releases, releases) : null;
  return (first ?? pickVersion(reference, wanted, all, toPrerelease ? all : releases))?.text ?? null;
}

/** @param patches versions from which a release takes its newest patch */
function pickVersion(
  { policy, applyPatches }: Omit<FrameworkReference, 'name'>,
  wanted: FrameworkVersion,
  from: readonly FrameworkVersion[],
  patches: readonly FrameworkVersion[],
): FrameworkVersion | null {
  if (policy === 'Disable') return from.find((version) => compareVersions(version, wanted) === 0) ?? null;
  const fits = from
    .filter((version) => compareVersions(version, wanted) >= 0 && isAllowed(policy, version, wanted))
    .toSorted(compareVersions);
  if (policy === 'LatestMinor' || policy === 'LatestMajor') return fits.at(-1) ?? null;
  const [nearest] = fits;
  if (nearest === undefined) return null;
  if (!applyPatches || !patches.includes(nearest)) return nearest;
  const line = patches.filter((version) => hasSameMinor(version, nearest)).toSorted(compareVersions);
  return line.at(-1) ?? nearest;
}

const hasSameMinor = (a: FrameworkVersion, b: FrameworkVersion): boolean =>
  a.numbers[0] === b.numbers[0] && a.numbers[1] === b.numbers[1];

function isAllowed(policy: RollForwardPolicy, version: FrameworkVersion, wanted: FrameworkVersion): boolean {
  if (policy === 'LatestPatch') return hasSameMinor(version, wanted);
  return policy === 'Major' || policy === 'LatestMajor' || version.numbers[0] === wanted.numbers[0];
}
