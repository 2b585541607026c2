import { createGlobMatcher } from '../../lib/formats/globs.js';
import { readFileStart, type PublishFile } from './publish-files.js';

const SUSPICIOUS_NAMES = createGlobMatcher(
  [
    '.env',
    '.env.*',
    '*.env',
    '*.pfx',
    '*.p12',
    '*.key',
    '*.ppk',
    '*.jks',
    '*.keystore',
    '*.kdbx',
    'id_rsa*',
    'id_ed25519*',
    'id_ecdsa*',
    '.npmrc',
    '.netrc',
    '_netrc',
    '.pgpass',
    '.git-credentials',
    '.htpasswd',
    'credentials',
    'credentials.json',
    'secrets.json',
    'secrets.y*ml',
    'service-account*.json',
  ].flatMap((name) => [name, `**/${name}`]),
);
const TEMPLATE_PATTERN = /(^|[./_-])(example|sample|template|dist)([./_-]|$)/;

/**
 * Version control directories contain everything ever committed, and often a URL with a password.
 */
const VERSION_CONTROL_PATTERN = /^(?:.*\/)?(?:\.(?:git|hg|svn|bzr|jj)|_darcs|CVS)(?=\/)/i;

const SCANNED_BYTES = 256 * 1024;
const SUSPICIOUS_CONTENTS: readonly [what: string, pattern: RegExp][] = [
  ['a private key', /-----BEGIN (?:[A-Z]{2,12} ){0,3}PRIVATE KEY-----\s/],
  ['a token of this service', /\b(?:svc_live_|svc_sub_|wd_live_|svc_setup_)[0-9A-Za-z]{43}/],
  ['an AWS access key', /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/],
  ['a GitHub token', /\b(?:gh[pousr]_[0-9A-Za-z]{36}|github_pat_\w{60})/],
  ['a GitLab token', /\bglpat-[\w-]{20}/],
  ['an npm token', /\b(?:npm_[0-9A-Za-z]{36}|_authToken\s?=\s?[\w-]{20})/],
  ['a Slack token', /\bxox[abposr]-[0-9A-Za-z-]{20}/],
  ['a Stripe key', /\b[rs]k_live_[0-9A-Za-z]{20}/],
  ['a Google key', /\bAIza[\w-]{35}/],
  ['a password in a URL', /\b[a-z][a-z0-9+]{1,20}:\/\/[^\s:/@"'<>]{1,60}:[^\s:/@"'<>${}]{3,60}@/i],
];
/**
 * A connection string or setting (`MYSQL_ROOT_PASSWORD: x`) with a value that is not a placeholder.
 */
const PASSWORD_PATTERN =
  /(?:password|passwd|pwd|secret|api_?key)["']?[ \t]{0,8}[:=][ \t]{0,8}["']?([^\s"';,<>${}%]{6,100})/gi;
const PLACEHOLDER_PATTERN =
  /^(changeme|change-me|todo|your[-_].*|x{3,}|\*{3,}|example.*|placeholder|null|none|false|true|undefined|string|password|secret|process\.env.*)$/i;
/** Source code mentions passwords without containing one. */
const SETTINGS_FILE_PATTERN = /\.(json|ya?ml|config|ini|env|toml|properties|xml|conf|cfg)$|(^|\/)\.env/;

/** Returns one sentence per suspicious file: its path and what was found, never the value. */
export async function findCredentialWarnings(
  files: readonly PublishFile[],
  preserved: (path: string) => boolean,
): Promise<string[]> {
  const warnings: string[] = [];
  const histories = new Set<string>();
  for (const { path, file, size } of files) {
    const history = VERSION_CONTROL_PATTERN.exec(path)?.[0];
    if (history !== undefined && !histories.has(history)) {
      histories.add(history);
      warnings.push(`${history}/ contains the complete commit history. Exclude it (excludePatterns: ${history}/**).`);
    }
    if (history !== undefined || preserved(path)) continue;
    const seen = hasSuspiciousName(path)
      ? 'has the name of a credentials file'
      : findSuspiciousContent(path, await readFileStart(file, Math.min(size, SCANNED_BYTES)));
    if (seen !== null)
      warnings.push(`${path} ${seen}. Exclude it (excludePatterns) or preserve it (preservePatterns).`);
  }
  return warnings;
}

const hasSuspiciousName = (path: string): boolean =>
  SUSPICIOUS_NAMES(path.toLowerCase()) && !TEMPLATE_PATTERN.test(path.toLowerCase());

function findSuspiciousContent(path: string, bytes: Buffer): string | null {
  // Binaries may contain key prefixes in order to recognize keys.
  if (bytes.includes(0)) return null;
  const text = bytes.toString('latin1');
  for (const [what, pattern] of SUSPICIOUS_CONTENTS) if (pattern.test(text)) return `seems to contain ${what}`;
  if (!SETTINGS_FILE_PATTERN.test(path.toLowerCase()) || TEMPLATE_PATTERN.test(path.toLowerCase())) return null;
  for (const [, value = ''] of text.matchAll(PASSWORD_PATTERN))
    if (!PLACEHOLDER_PATTERN.test(value)) return 'seems to contain a password';
  return null;
}
