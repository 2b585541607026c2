/**
 * For display only. Grouping never uses it (contract 21: "never an app-or-vendor guess"), so a
 * wrong guess is harmless.
 */

/** Derives the package name from the rest of the path. */
type LibraryRule = readonly [marker: string, name: (rest: string) => string];

const getFirstSegment = (rest: string): string => rest.split('/', 1)[0] ?? '';
const takeSegments = (rest: string, n: number): string => rest.split('/', n).join('/');
const getNodePackage = (rest: string): string => (rest.startsWith('@') ? takeSegments(rest, 2) : getFirstSegment(rest));
/** `rack-3.0.8` → `rack`. */
const stripVersion = (rest: string): string => getFirstSegment(rest).replace(/-\d[\w.+-]*$/, '');
/** `github.com/acme/x@v1.2.3/y.go` → `github.com/acme/x`; a Composer package has two segments. */
const getVendoredPackage = (rest: string): string => takeSegments(rest, getFirstSegment(rest).includes('.') ? 3 : 2);

/** The first match wins. */
const PATH_RULES: readonly LibraryRule[] = [
  ['/node_modules/', getNodePackage],
  ['/bower_components/', getNodePackage],
  ['/.yarn/', () => 'yarn'],
  ['/site-packages/', (rest) => getFirstSegment(rest).replace(/\.py$/, '')],
  ['/dist-packages/', (rest) => getFirstSegment(rest).replace(/\.py$/, '')],
  ['/lib/python', () => 'Python'],
  ['/gems/', stripVersion],
  ['/lib/ruby/', () => 'Ruby'],
  ['/pkg/mod/', (rest) => rest.split('@', 1)[0] ?? ''],
  ['/go/src/runtime/', () => 'Go runtime'],
  ['/usr/local/go/src/', () => 'Go'],
  ['/usr/lib/go/src/', () => 'Go'],
  ['/libexec/src/', () => 'Go'],
  ['/vendor/', getVendoredPackage],
  ['/rustc/', () => 'Rust'],
  ['/library/std/src/', () => 'Rust'],
  ['/library/core/src/', () => 'Rust'],
  ['/.cargo/registry/src/', (rest) => stripVersion(rest.slice(rest.indexOf('/') + 1))],
  ['/perl5/', () => 'Perl'],
  ['/usr/share/perl', () => 'Perl'],
];

const SCHEME_LIBRARIES: readonly [start: string, name: string][] = [
  ['node:', 'Node.js'],
  ['internal/', 'Node.js'],
  ['<frozen ', 'Python'],
  ['dart:', 'Dart'],
  ['package:flutter/', 'flutter'],
  ['chrome-extension:', 'browser extension'],
  ['moz-extension:', 'browser extension'],
  ['safari-extension:', 'browser extension'],
  ['safari-web-extension:', 'browser extension'],
];

const PLATFORM_NAMESPACES = [
  'java.',
  'javax.',
  'jdk.',
  'sun.',
  'com.sun.',
  'jakarta.',
  'kotlin.',
  'kotlinx.',
  'scala.',
  'groovy.',
  'android.',
  'androidx.',
  'dalvik.',
  'com.android.internal.',
  'org.springframework.',
  'org.apache.',
  'org.hibernate.',
  'org.eclipse.jetty.',
  'org.jboss.',
  'org.junit.',
  'com.fasterxml.',
  'com.google.common.',
  'com.zaxxer.hikari.',
  'org.postgresql.',
  'io.netty.',
  'io.undertow.',
  'io.reactivex.',
  'reactor.',
  'okhttp3.',
  'retrofit2.',
  'System.',
  'Microsoft.',
  'Npgsql.',
  'Newtonsoft.',
] as const;
const PLATFORM_NAMESPACE_PATTERN = new RegExp(
  `^(?:${PLATFORM_NAMESPACES.map((name) => name.replaceAll('.', '\\.')).join('|')})`,
);
const GO_RUNTIME_PATTERN = /^(?:runtime|runtime\/debug|net\/http|reflect|testing)\./;

/**
 * Returns null for application code.
 * @param name the frame's function
 */
export function detectLibrary(file: string | null, name: string | null): string | null {
  const namespace = name === null ? null : PLATFORM_NAMESPACE_PATTERN.exec(name);
  if (namespace !== null) return namespace[0].slice(0, -1);
  if (file === null) return name === null || name.includes('.') ? null : 'built-in';
  const path = file.replaceAll('\\', '/');
  for (const [start, library] of SCHEME_LIBRARIES) if (path.startsWith(start)) return library;
  const rooted = path.startsWith('/') ? path : `/${path}`;
  for (const [marker, naming] of PATH_RULES) {
    const at = rooted.lastIndexOf(marker);
    if (at >= 0) return naming(rooted.slice(at + marker.length)) || marker.replaceAll('/', '');
  }
  if (path.endsWith('.go') && name !== null && GO_RUNTIME_PATTERN.test(name)) return 'Go runtime';
  return /\/vendors?[.~-][^/]*\.js$/.test(rooted) ? 'vendor bundle' : null;
}
