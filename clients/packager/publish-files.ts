import { isUtf8 } from 'node:buffer';
import { lstat, open, readdir } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { compareCodePoints } from '../../lib/formats/code-points.js';
import { createGlobMatcher } from '../../lib/formats/globs.js';
import { findPathFault } from '../../lib/formats/path-policy.js';
import { PathSet } from '../../lib/formats/path-set.js';
import type { Platform } from '../../lib/formats/platform.js';
import { toPrintable } from '../../lib/text/printable.js';
import { EXIT_CODES, PackagerFailure } from './packager-failure.js';

export interface PublishFile {
  path: string;
  file: string;
  size: number;
  executable: boolean;
}

export interface PublishRules {
  platform: Platform;
  exclude: readonly string[];
  own: readonly string[];
}

export interface FoundFiles {
  files: PublishFile[];
  excluded: string[];
  junk: string[];
}

const isJunk = createGlobMatcher(
  ['.DS_Store', '._*', 'Thumbs.db', 'desktop.ini', '__MACOSX/**'].flatMap((glob) => [glob, `**/${glob}`]),
);

/** @throws PackagerFailure for an invalid path, a link or a device; nothing is packed */
export async function listPublishFiles(root: string, rules: PublishRules): Promise<FoundFiles> {
  const isExcluded = createGlobMatcher(rules.exclude);
  const excluded: string[] = [];
  const junk: string[] = [];
  const found: PublishFile[] = [];
  const paths = new PathSet();
  for await (const path of walkFiles(root, '')) {
    const file = join(root, ...path.split('/'));
    if (rules.own.includes(file)) continue;
    const list = isExcluded(path) ? excluded : isJunk(path) ? junk : null;
    if (list !== null) {
      list.push(path);
      continue;
    }
    const why = findPathFault(path, rules.platform) ?? paths.add(path, 'file');
    if (why !== null) throw createInvalidFileFailure(path, why);
    const stat = await lstat(file);
    if (stat.isSymbolicLink())
      throw createInvalidFileFailure(
        path,
        'is a symbolic link; replace it with the file itself, or exclude it with excludePatterns',
      );
    if (!stat.isFile()) throw createInvalidFileFailure(path, 'is neither a file nor a directory');
    found.push({ path, file, size: stat.size, executable: (stat.mode & 0o111) !== 0 });
  }
  if (found.length === 0)
    throw new PackagerFailure(EXIT_CODES.refused, `${root} contains no files that are not excluded.`);
  return { files: found.toSorted((a, b) => compareCodePoints(a.path, b.path)), excluded, junk };
}

export function findUnmatchedPatterns(name: string, patterns: readonly string[], paths: readonly string[]): string[] {
  const anyMatches = (glob: string, among: readonly string[]): boolean => among.some(createGlobMatcher([glob]));
  return patterns
    .filter((glob) => !anyMatches(glob, paths))
    .map((glob) => {
      const lower = paths.map((path) => path.toLowerCase());
      const meant = anyMatches(`${glob}/**`, paths)
        ? `; ${glob}/ matches everything in the folder`
        : anyMatches(glob.toLowerCase(), lower)
          ? '; case counts'
          : anyMatches(`**/${glob}`, paths)
            ? `; **/${glob} matches below folders`
            : '';
      return `${name}: ${glob} matches no file${meant}.`;
    });
}

async function* walkFiles(root: string, folder: string): AsyncGenerator<string> {
  const at = join(root, ...folder.split('/'));
  const entries = await readdir(at, { withFileTypes: true, encoding: 'buffer' }).catch(
    (error: NodeJS.ErrnoException) => {
      throw new PackagerFailure(EXIT_CODES.error, `${at} cannot be read (${error.code ?? error.message}).`);
    },
  );
  for (const entry of entries) {
    if (!isUtf8(entry.name))
      throw createInvalidFileFailure(`${folder}/${entry.name.toString()}`, 'has a name that is not UTF-8');
    const path = folder === '' ? entry.name.toString() : `${folder}/${entry.name.toString()}`;
    if (entry.isDirectory()) yield* walkFiles(root, path);
    else yield path;
  }
}

const createInvalidFileFailure = (path: string, why: string): PackagerFailure =>
  new PackagerFailure(EXIT_CODES.refused, `${toPrintable(path, 300)} ${why}.`);

export async function readFileStart(file: string, count: number): Promise<Buffer> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(count), 0, count, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

export const findPlatformInPath = (path: string, known: (text: string) => boolean): string | null =>
  path.split(sep).findLast(known) ?? null;
