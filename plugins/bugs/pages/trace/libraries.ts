/**
 * Detects the library of a stack frame for display only: the page collapses library frames.
 * Grouping never uses it (contract 21: "never an app-or-vendor guess"), so a wrong guess is
 * harmless.
 */

/** Path marker, and a function that derives the package name from the rest of the path. */
type Rule = readonly [marker: string, name: (rest: string) => string];

const first = (rest: string): string => rest.split('/', 1)[0] ?? '';
const segments = (rest: string, n: number): string => rest.split('/', n).join('/');
/** Returns the npm package: `@scope/name`, or `name`. */
const nodePackage = (rest: string): string => (rest.startsWith('@') ? segments(rest, 2) : first(rest));
/** Strips the version: `rack-3.0.8` → `rack`. */
const unversioned = (rest: string): string => first(rest).replace(/-\d[\w.+-]*$/, '');
/**
 * Returns the vendored package: `github.com/acme/x@v1.2.3/y.go` → `github.com/acme/x`; a Composer
 * package has two segments.
 */
const vendored = (rest: string): string => segments(rest, first(rest).includes('.') ? 3 : 2);

/** The first match wins, so specific markers come before general ones. */
const PATHS: readonly Rule[] = [
  ['/node_modules/', nodePackage],
  ['/bower_components/', nodePackage],
  ['/.yarn/', () => 'yarn'],
  ['/site-packages/', (rest) => first(rest).replace(/\.py$/, '')],
  ['/dist-packages/', (rest) => first(rest).replace(/\.py$/, '')],
  ['/lib/python', () => 'Python'],
  ['/gems/', unversioned],
  ['/lib/ruby/', () => 'Ruby'],
  ['/pkg/mod/', (rest) => rest.split('@', 1)[0] ?? ''],
  ['/go/src/runtime/', () => 'Go runtime'],
  ['/usr/local/go/src/', () => 'Go'],
  ['/usr/lib/go/src/', () => 'Go'],
  ['/libexec/src/', () => 'Go'],
  ['/vendor/', vendored],
  ['/rustc/', () => 'Rust'],
  ['/library/std/src/', () => 'Rust'],
  ['/library/core/src/', () => 'Rust'],
  ['/.cargo/registry/src/', (rest) => unversioned(rest.slice(rest.indexOf('/') + 1))],
  ['/perl5/', () => 'Perl'],
  ['/usr/share/perl', () => 'Perl'],
];

const SCHEMES: readonly [start: string, name: string][] = [
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

const NAMESPACES = [
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
const NAMESPACE = new RegExp(`^(?:${NAMESPACES.map((name) => name.replaceAll('.', '\\.')).join('|')})`);
const GO_RUNTIME = /^(?:runtime|runtime\/debug|net\/http|reflect|testing)\./;

/**
 * Returns the display name of the frame's library; null for application code.
 * @param file as the frame names it
 * @param name the frame's function
 */
export function libraryOf(file: string | null, name: string | null): string | null {
  const namespace = name === null ? null : NAMESPACE.exec(name);
  if (namespace !== null) return namespace[0].slice(0, -1);
  if (file === null) return name === null || name.includes('.') ? null : 'built-in';
  const path = file.replaceAll('\\', '/');
  for (const [start, library] of SCHEMES) if (path.startsWith(start)) return library;
  const rooted = path.startsWith('/') ? path : `/${path}`;
  for (const [marker, naming] of PATHS) {
    const at = rooted.lastIndexOf(marker);
    if (at >= 0) return naming(rooted.slice(at + marker.length)) || marker.replaceAll('/', '');
  }
  if (path.endsWith('.go') && name !== null && GO_RUNTIME.test(name)) return 'Go runtime';
  return /\/vendors?[.~-][^/]*\.js$/.test(rooted) ? 'vendor bundle' : null;
}
