/**
 * Case-sensitive globs (contract 90, packager): `*` any characters but a slash, `?` one, `**` any
 * characters, between slashes zero or more folders.
 */

type GlobStep = { kind: 'char'; char: string } | { kind: 'one' | 'name' | 'path' | 'folders' };

export const MAX_GLOB_LENGTH = 1_000;

/** Returns why a glob is invalid, or null. */
export function findGlobFault(glob: string): string | null {
  if (glob === '') return 'is empty';
  if (glob.length > MAX_GLOB_LENGTH) return `is longer than ${MAX_GLOB_LENGTH} characters`;
  if (glob.includes('\\')) return 'has a back-slash; paths are separated by slashes';
  if (glob.startsWith('/') || glob.startsWith('./')) return 'must not start with a slash or ./; paths are relative';
  return null;
}

/** Returns why a newly written glob would be misleading, or null. */
export function findUnsupportedGlob(glob: string): string | null {
  if (glob.startsWith('!')) return 'must not start with !; exceptions are not supported';
  if (/[{}]/.test(glob)) return 'has braces, which are not supported; write one pattern for each alternative';
  if (/[[\]]/.test(glob)) return 'has brackets, which are not supported; ? stands for any one character';
  return findGlobFault(glob);
}

/** Expands `name/` to everything in the folder. */
export const normalizeGlob = (glob: string): string => (glob.endsWith('/') ? `${glob}**` : glob);

/** Returns a predicate that matches any of the globs. */
export function createGlobMatcher(globs: readonly string[]): (path: string) => boolean {
  const compiled = globs.map(parseSteps);
  return (path) => compiled.some((pattern) => matchesPath(pattern, path));
}

function parseSteps(glob: string): GlobStep[] {
  const found: GlobStep[] = [];
  for (let at = 0; at < glob.length;) {
    const rest = glob.slice(at);
    const starts = at === 0 || glob[at - 1] === '/';
    const stars = /^\*+/.exec(rest)?.[0].length ?? 0;
    if (stars > 1 && starts && rest[stars] === '/') {
      found.push({ kind: 'folders' });
      at += stars + 1;
    } else if (stars > 0) {
      found.push({ kind: stars > 1 ? 'path' : 'name' });
      at += stars;
    } else {
      const char = String.fromCodePoint(rest.codePointAt(0) ?? 0);
      found.push(char === '?' ? { kind: 'one' } : { kind: 'char', char });
      at += char.length;
    }
  }
  return found;
}

/** Without backtracking. */
function matchesPath(pattern: readonly GlobStep[], path: string): boolean {
  let places = addReachableSteps(pattern, new Set([0]), true);
  for (const char of path) {
    const next = new Set<number>();
    for (const place of places) advanceStep(pattern, place, char, next);
    if (next.size === 0) return false;
    places = addReachableSteps(pattern, next, char === '/');
  }
  return places.has(pattern.length);
}

function advanceStep(pattern: readonly GlobStep[], place: number, char: string, next: Set<number>): void {
  const step = pattern[place];
  if (step === undefined) return;
  if (step.kind === 'char') {
    if (step.char === char) next.add(place + 1);
  } else if (step.kind === 'one') {
    if (char !== '/') next.add(place + 1);
  } else if (step.kind !== 'name' || char !== '/') {
    next.add(place);
  }
}

/** Wildcards may be empty. */
function addReachableSteps(pattern: readonly GlobStep[], places: Set<number>, atName: boolean): Set<number> {
  for (const place of places) {
    const kind = pattern[place]?.kind;
    if (kind === 'name' || kind === 'path' || (kind === 'folders' && atName)) places.add(place + 1);
  }
  return places;
}
