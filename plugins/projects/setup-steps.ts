/** Setup instructions of a language: the SDK to install, and the code that configures the DSN. */

export interface SetupSteps {
  id: string;
  label: string;
  /** Shell command; null when nothing is installed. */
  install: string | null;
  /**
   * @param dsn complete, or with a placeholder for its key
   * @param release `shop@1.0.0`
   */
  code(dsn: string, release: string): string;
}

const createNpmSnippet =
  (name: string): ((dsn: string, release: string) => string) =>
  (dsn, release) =>
    [
      `import * as Sentry from '${name}';`,
      '',
      `Sentry.init({`,
      `  dsn: '${dsn}',`,
      `  release: '${release}',`,
      `});`,
    ].join('\n');

export const SETUP_LANGUAGES: readonly [SetupSteps, ...SetupSteps[]] = [
  { id: 'node', label: 'Node.js', install: 'npm install @sentry/node', code: createNpmSnippet('@sentry/node') },
  {
    id: 'browser',
    label: 'Browser',
    install: 'npm install @sentry/browser',
    code: createNpmSnippet('@sentry/browser'),
  },
  {
    id: 'python',
    label: 'Python',
    install: 'pip install sentry-sdk',
    code: (dsn, release) => `import sentry_sdk\n\nsentry_sdk.init(dsn="${dsn}", release="${release}")`,
  },
  {
    id: 'java',
    label: 'Java',
    install: null,
    code: (dsn, release) =>
      [
        '// Gradle: implementation("io.sentry:sentry:8.62.0")',
        'Sentry.init(options -> {',
        `  options.setDsn("${dsn}");`,
        `  options.setRelease("${release}");`,
        '});',
      ].join('\n'),
  },
  {
    id: 'go',
    label: 'Go',
    install: 'go get github.com/getsentry/sentry-go',
    code: (dsn, release) =>
      [
        'err := sentry.Init(sentry.ClientOptions{',
        `  Dsn: "${dsn}",`,
        `  Release: "${release}",`,
        '})',
        '// …',
        'defer sentry.Flush(5 * time.Second)',
      ].join('\n'),
  },
  {
    id: 'dotnet',
    label: '.NET',
    install: 'dotnet add package Sentry',
    code: (dsn, release) =>
      ['SentrySdk.Init(options =>', '{', `  options.Dsn = "${dsn}";`, `  options.Release = "${release}";`, '});'].join(
        '\n',
      ),
  },
  {
    id: 'php',
    label: 'PHP',
    install: 'composer require sentry/sentry',
    code: (dsn, release) => `\\Sentry\\init(['dsn' => '${dsn}', 'release' => '${release}']);`,
  },
  {
    id: 'curl',
    label: 'curl',
    install: null,
    // AOS's own report intake, with the DSN's key.
    code: (dsn, release) => {
      const { username: key, origin, pathname } = new URL(dsn);
      const [slug = '', version = ''] = release.split('@');
      const error = { project: slug, error_level: 'error', error_message: 'it works', app_version: version };
      return [
        `curl ${origin}${pathname.replace(/\/[^/]*$/, '')}/api/errors/v1/report \\`,
        `  -H "Authorization: Bearer ${decodeURIComponent(key)}" \\`,
        `  -H 'Content-Type: application/json' \\`,
        `  -d '${JSON.stringify(error)}'`,
      ].join('\n');
    },
  },
];

export const findSetupSteps = (id: unknown): SetupSteps =>
  SETUP_LANGUAGES.find((one) => one.id === id) ?? SETUP_LANGUAGES[0];
