/** Compared from the end, because traces and repositories have different roots. */
import type { BuildCommit } from '../../../ports/domain/releases.js';

export interface SuspectCommit extends BuildCommit {
  touched: string | null;
}

const MAX_PATHS = 40;
const MAX_TRACE_LENGTH = 16_384;
const MAX_PATH_LENGTH = 300;

const PATH_SEPARATOR = /[\s()"',<>|=]+/;
const QUERY_STRING = /\?.*$/s;
const LINE_SUFFIX = /(?::\d{1,9}){0,2}(?::[^\d:/\\]{0,10})?$/;
const FILE_EXTENSION = /\.[a-z]{1,5}$/i;

/** Returns the files of a trace, the failing one first. */
export function listTracePaths(file: string | null, trace: string | null): string[] {
  const words = (trace ?? '')
    .slice(0, MAX_TRACE_LENGTH)
    .split(PATH_SEPARATOR)
    .filter((word) => word.length <= MAX_PATH_LENGTH);
  const found = words
    .map((word) => word.replace(QUERY_STRING, '').replace(LINE_SUFFIX, ''))
    .filter((word) => FILE_EXTENSION.test(word));
  const paths = [...(file === null ? [] : [file]), ...found].map((path) => splitSegments(path).join('/'));
  return [...new Set(paths)].filter((path) => path !== '').slice(0, MAX_PATHS);
}

export function rankSuspectCommits(commits: readonly BuildCommit[], paths: readonly string[]): SuspectCommit[] {
  const wanted = paths.map(splitSegments);
  const rated = commits.map((commit) => {
    const at = wanted.findIndex((path) => commit.files.some((file) => isSameFile(splitSegments(file), path)));
    const touched =
      at < 0 ? null : (commit.files.find((file) => isSameFile(splitSegments(file), wanted[at] ?? [])) ?? null);
    return { at: at < 0 ? Infinity : at, commit: { ...commit, touched } };
  });
  return rated.toSorted((a, b) => (a.at === b.at ? 0 : a.at - b.at)).map(({ commit }) => commit);
}

function splitSegments(path: string): string[] {
  const plain = path
    .slice(0, MAX_PATH_LENGTH)
    .replaceAll('\\', '/')
    .replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*/i, '')
    .replace(/[?#].*$/s, '')
    .toLowerCase();
  return plain.split('/').filter((part) => part !== '' && part !== '.' && part !== '..' && !/^[a-z]:$/.test(part));
}

function isSameFile(a: readonly string[], b: readonly string[]): boolean {
  const need = Math.min(2, a.length, b.length);
  if (need === 0) return false;
  for (let i = 1; i <= need; i++) if (a.at(-i) !== b.at(-i)) return false;
  return true;
}
