import { GUID_SOURCE } from '../../../lib/text/guid.js';

const ANY_GUID = new RegExp(`\\{?${GUID_SOURCE}\\}?`, 'gi');
/** `main.3f2504e0.js`: 8 or more hex digits. */
const DOTTED_HASH = /\.[0-9a-f]{8,64}(?=\.)/gi;
/** Nuxt and Parcel write seven digits; words have fewer than two. */
const SHORT_HASH = /(?<=^|\.)(?=[0-9]*[a-f])(?=[a-f]*[0-9][a-f]*[0-9])[0-9a-f]{7}(?=\.(?:[cm]?js|css)\b|$)/g;
/** `main-3f2504e0.js`: a letter and a digit, because it may be a date. */
const HYPHENED_HASH = /[-_~](?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{8,64}(?=\.|$)/gi;
const WHOLE_HASH = /^(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{8,64}(?=\.|$)/i;
const BUNDLE_EXTENSION = String.raw`(?=(?:\.(?:min|chunk|bundle|esm|umd|iife|legacy|modern|module))?\.(?:[cm]?js|css|wasm)(?:\.map)?$)`;
/** Eight base64 or base32 characters: `index-BdJ3kf9Q.js`, `chunk-5KJ2X7QW.js`. */
const BUNDLED_HASH = new RegExp(`([-._])([\\w-]{8})${BUNDLE_EXTENSION}`, 'i');
/** Configurable in Rollup and Turbopack. */
const LONG_HASH = new RegExp(`([-._])(?=[\\w-]*\\d)(?=[\\w-]*[a-z])([a-z0-9_]{10,40})${BUNDLE_EXTENSION}`, 'i');
/** `_nuxt/DlAUqK2U.js`. */
const BUNDLED_NAME = new RegExp(`^[\\w-]{8}${BUNDLE_EXTENSION}`, 'i');
/** `settings`, `UserCart`, a numbered `Service1`, or a number between words. */
const WORD = /^(?:[a-z]*(?:[A-Z][a-z]{2,}){1,4}\d?|[a-z]{1,8}|\d{1,3})$/;

const isHash = (name: string): boolean => !name.split(/[-_]/).every((word) => WORD.test(word));

function maskBundleHash(name: string): string {
  const whole = BUNDLED_NAME.exec(name)?.[0];
  if (whole !== undefined && /[A-Z]/.test(whole) && /[a-z]/.test(whole) && isHash(whole))
    return `<hash>${name.slice(whole.length)}`;
  return name
    .replace(BUNDLED_HASH, (found, before: string, part: string) => (isHash(part) ? `${before}<hash>` : found))
    .replace(LONG_HASH, (found, before: string, part: string) => (isRandomWord(part) ? `${before}<hash>` : found));
}

/** Letters and digits alternate too often: `kTw9B4zd`, `V1StGXR8_Z5jdHi6B-myT`. */
export function isRandomWord(word: string): boolean {
  if (word.length < 8 || !/^(?=[^\d]*\d)(?=[^a-zA-Z]*[a-zA-Z])[\w-]+$/.test(word)) return false;
  const runs = word.match(/[a-z]+|[A-Z]+|\d+/g)?.length ?? 0;
  return runs * 20 >= word.length * 11 || (word.length >= 16 && runs * 4 >= word.length);
}

/** The next segment names a release, build, process or container. */
const NUMBERED_PARENT =
  /^(?:releases?|builds?|deploy(?:ment)?s?|revisions?|versions?|overlay2|pods|containers|snapshots|proc)$/i;
const BUILD_NAME = /^(?:[\d._:TZ+-]{1,40}|v?\d[\w.+-]{0,60}|(?=[a-f]*\d)[0-9a-f]{7,64}|r\d{1,12})$/i;
const NEXT_FOLDERS = new Set(['chunks', 'css', 'media', 'pages', 'runtime', 'webpack', 'development', 'images', 'app']);
const VERSION =
  /(^|[a-z\d]?[-_@ ])v?\d{1,6}(?:\.\d{1,10}){1,4}(?:[-+._]?(?:alpha|beta|rc|snapshot|dev|build|final|release|[a-f0-9]{6,40}|\d{1,12})[\w.]{0,40}){0,3}$/i;
const LANGUAGE_VERSION = /^(python|ruby|php|node|go|perl|lua)-?\d{1,3}(?:\.\d{1,4}){1,3}$/i;
const FILE_VERSION = /(?<=[a-z\d])[-_@]v?\d{1,6}\.\d{1,6}\.\d{1,10}(?=\.)/i;
const DATED_BUILD = /^(?=(?:\D{0,3}\d){8})[vr]?\d[\dTZ_.:+-]{7,40}$/;
const NUMBERED_BUILD =
  /^((?:build|release|rev|deploy|version|job|run|task|attempt|application|container)[-_.]?)\d[\d_]{0,40}$/i;
const LONG_VERSION = /^[vrb]\d{3,20}$/;
/** Kubernetes: the ReplicaSet or CronJob run, and five characters. */
export const POD_SUFFIX =
  /(?<=[a-z0-9])-(?:\d{8,10}|(?=[a-z]{0,9}\d[a-z]{0,9}\d)(?=\d{0,9}[a-z])[a-z0-9]{6,10})-(?:(?=[a-z]{0,4}\d)[a-z0-9]{5}|[bcdfghjklmnpqrstvwxz2456789]{5})(?![a-z0-9])/g;
const SHARED_OBJECT = /(\.so)(?:\.\d{1,6}){1,4}$/;

const TEMPORARY_PLACEHOLDER = '<temporary>';
const TEMPORARY_NAME =
  /^(?:tmp(?!_[a-z]+(?:\.|$))[a-z0-9_]{8}|tmp\.[A-Za-z0-9]{6,12}|\.tmp[A-Za-z0-9]{6}|_MEI[A-Za-z0-9]{4,12}|php[A-Za-z0-9]{6}|RackMultipart[\w-]{8,60}|ipykernel_\d{1,9}|go-build\d{3,20}|pip-[a-z-]{2,30}-[a-z0-9_]{8})(?=\.|$)/;
const NOTEBOOK_CELL = /^\d{1,20}(?=\.py$)/;
/** Nix or Guix: `3f25…-shop-1.4.2`. */
const STORE_HASH = /^[0-9a-z]{32}(?=-[A-Za-z])/;
/** Go: `v0.0.0-20261101120000-3f2504e0a1b2`. */
const PSEUDO_VERSION = /@v\d{1,6}\.\d{1,6}\.\d{1,6}-(?:[\w.]{1,20}\.)?\d{14}-[0-9a-f]{12}$/;

function isInTemporaryFolder(segments: readonly string[], at: number): boolean {
  const [before = '', beforeThat = ''] = [segments[at - 1]?.toLowerCase(), segments[at - 2]?.toLowerCase()];
  if (before === 'tmp') return at === 1 || /^(?:var|private|usr|dev|~)$/.test(beforeThat);
  if (before === 'temp') return at === 1 || /^(?:local|windows|c:)$/.test(beforeThat);
  if (before === 'temporary asp.net files' || beforeThat === 'temporary asp.net files') return true;
  return before === 't' && segments[at - 4]?.toLowerCase() === 'folders';
}

/** `/var/folders/zz/zyxvpxvq/T` on macOS. */
const isMacUserFolder = (segments: readonly string[], at: number): boolean =>
  [at - 1, at - 2].some((i) => segments[i] === 'folders' && /^[TC0]$/.test(segments[i + 3] ?? ''));

/** With a digit, the prefix `tmp` or `temp`, or mixed case. */
function maskTemporaryName(name: string): string {
  const stem = name.replace(/(?:\.[A-Za-z]{1,8}){0,2}$/, '');
  if (stem !== '' && !/\d|^te?mp.|[a-z][A-Z][a-z]*[A-Z]|_[a-z]{0,7}_|^[A-Z]/.test(stem)) return name;
  return `${TEMPORARY_PLACEHOLDER}${name.slice(stem.length)}`;
}

/** @param at its index; the last segment is a file */
function maskSegment(segments: readonly string[], at: number): string {
  const segment = segments[at] ?? '';
  const isFile = at === segments.length - 1;
  const before = segments[at - 1] ?? '';
  if (TEMPORARY_NAME.test(segment)) return segment.replace(TEMPORARY_NAME, TEMPORARY_PLACEHOLDER);
  if (isInTemporaryFolder(segments, at)) return maskTemporaryName(segment);
  if (isMacUserFolder(segments, at)) return TEMPORARY_PLACEHOLDER;
  if (isFile && before.startsWith('ipykernel_')) return segment.replace(NOTEBOOK_CELL, '<number>');
  if (!isFile && DIGIT.test(segment) && NUMBERED_PARENT.test(before) && BUILD_NAME.test(segment)) return '<build>';
  if (!isFile && isNextBuild(segments, at)) return '<build>';
  if (!DIGIT.test(segment)) return isFile && segment.length >= 8 ? maskBundleHash(segment) : segment;
  const short = segment.replace(SHORT_HASH, '<hash>').replace(SHARED_OBJECT, '$1');
  return segment.length < 8 ? (isFile ? short : maskFolder(short)) : maskHashes(short, isFile);
}

const DIGIT = /\d/;

function maskHashes(segment: string, isFile: boolean): string {
  if (!isFile && /^\d{8,}$/.test(segment)) return '<hash>';
  const masked = segment
    .replace(STORE_HASH, '<hash>')
    .replace(PSEUDO_VERSION, '@<version>')
    .replace(ANY_GUID, '<guid>')
    .replace(POD_SUFFIX, '-<pod>')
    .replace(DOTTED_HASH, '.<hash>')
    .replace(HYPHENED_HASH, '-<hash>')
    .replace(WHOLE_HASH, '<hash>');
  return isFile ? maskBundleHash(masked.replace(FILE_VERSION, '-<version>')) : maskFolder(masked);
}

function maskFolder(segment: string): string {
  if (DATED_BUILD.test(segment) || LONG_VERSION.test(segment)) return '<hash>';
  if (NUMBERED_BUILD.test(segment)) return segment.replace(NUMBERED_BUILD, '$1<number>');
  const language = LANGUAGE_VERSION.exec(segment)?.[1];
  if (language !== undefined) return `${language}<version>`;
  const masked = segment.replace(VERSION, '$1<version>');
  return isRandomWord(masked) ? '<hash>' : masked;
}

function isNextBuild(segments: readonly string[], at: number): boolean {
  const [before = '', beforeThat = ''] = [segments[at - 1], segments[at - 2]];
  const segment = segments[at] ?? '';
  if (beforeThat === '_next' && (before === 'static' || before === 'data')) return !NEXT_FOLDERS.has(segment);
  return before === '_nuxt' && DIGIT.test(segment) && segment.length >= 6;
}

const MAX_SEGMENTS = 32;

export function maskSegments(segments: readonly string[]): string[] {
  const near = segments.length > MAX_SEGMENTS ? segments.slice(-MAX_SEGMENTS) : segments;
  return near.map((_, at) => maskSegment(near, at));
}

const PAGE_SCHEME = /^(?:https?|app|capacitor|ionic|tauri|chrome-extension|moz-extension):/i;
const SCRIPT =
  /\.(?:[cm]?[jt]sx?|vue|svelte|wasm|css|bundle|jsbundle|map|dart|json|py|rb|kt|go|rs|cs|java|coffee|hbc)$/i;
const PAGE_FILE = /\.(?:html?|xhtml|php|aspx?|jspx?|cgi)$/i;

export function isPage(file: string): boolean {
  if (!PAGE_SCHEME.test(file)) return false;
  const path = file.split(/[?#]/, 1)[0] ?? '';
  const name = path.slice(path.lastIndexOf('/') + 1).replace(/(?::\d{1,9}){1,2}$/, '');
  return PAGE_FILE.test(name) || (!SCRIPT.test(name) && !/\.[A-Za-z]{1,10}$/.test(name));
}

const PART_PLACEHOLDER = '<part>';
const LOCALE = /^[a-z]{2}(?:[-_][A-Za-z]{2})?$/;
const MIN_PAGE_SEGMENTS = 2;
const MAX_PAGE_SEGMENTS = 4;

const isVariable = (segment: string, at: number): boolean =>
  /\d|[<>]/.test(segment) || segment.length > 40 || (at === 0 && LOCALE.test(segment));

/** Masks variable segments; includes at least one constant segment, if one exists. */
export function maskPage(segments: readonly string[]): string[] {
  const masked = segments.map((segment, at) => (isVariable(segment, at) ? PART_PLACEHOLDER : segment));
  let count = Math.min(MIN_PAGE_SEGMENTS, masked.length);
  while (
    count < Math.min(MAX_PAGE_SEGMENTS, masked.length) &&
    masked.slice(-count).every((one) => one === PART_PLACEHOLDER)
  )
    count++;
  return masked.slice(-count);
}
