/**
 * Who may import whom, as data (docs/architecture.md, "Who may import whom"). A file belongs to one
 * unit: a layer, or a folder of its own below `plugins/`, `adapters/` and `clients/`. What no rule
 * allows is a violation.
 */
import { posix } from 'node:path';
import type { FileFacts } from './imports.js';

export interface Rule {
  layer: string;
  /** Files of the layer that this rule is for, by path; the first rule that fits decides. */
  files: RegExp;
  /** Paths of the project (without extension) that it may import, beside its own unit. */
  project: readonly RegExp[];
  /** Packages and built-in modules. */
  packages: readonly RegExp[];
  /** The rule in words, for the report. */
  says: string;
}

const PURE = /^(joi|re2js|otpauth|qrcode|hash-wasm|node:(crypto|buffer|url|util|zlib))$/;
const NODE = /^node:/;
const PORTS = /^ports\//;
const KERNEL_API = /^kernel\/(contract\/index|errors)$/;
const SETTINGS = /^config\/(?!compose\/)/;
const ANYTHING = /^/;
/**
 * Pure helpers that import nothing of the project: everyone's, but not of a client that is
 * published alone.
 */
const LIB = /^lib\/(?!formats\/)/;
const ALONE = /^clients\/sdk\//;

/** An adapter may use its own driver and no other. */
const DRIVERS: Readonly<Record<string, RegExp>> = {
  memory: /^$/,
  sqlite: /^libsql$/,
  mongodb: /^mongodb$/,
  hapi: /^(@hapi\/.*|@fastify\/busboy|handlebars|joi|ipaddr\.js|lru-cache)$/,
  // The queue reckons with luxon.
  agenda: /^(agenda|luxon)$/,
  // Maps are decoded by the one, names of functions found by the other.
  sourcemaps: /^acorn$/,
  node: /^(bcryptjs|hash-wasm|pino|pino-pretty|prom-client|ipaddr\.js|yaml)$/,
};

export const RULES: readonly Rule[] = [
  {
    layer: 'ports',
    files: /^ports\/http\/(page|route|schema)\.ts$/,
    project: [],
    packages: [/^joi$/],
    says: 'what holds schemas in ports/http imports joi’s types too',
  },
  { layer: 'ports', files: /^ports\//, project: [], packages: [], says: 'ports import nothing but lib' },
  {
    // The calls to the system that several adapters need alike.
    layer: 'lib',
    files: /^lib\/(folders|files\/(replace-file|trusted-file))\.ts$/,
    project: [],
    packages: [/^node:(crypto|fs|fs\/promises|path)$/],
    says: 'lib/folders.ts and lib/files import node:fs, node:path and node:crypto',
  },
  {
    // The companions' requests, which go through proxies.
    layer: 'lib',
    files: /^lib\/http\/send-request\.ts$/,
    project: [],
    packages: [NODE, /^https?-proxy-agent$/],
    says: 'lib/http/send-request.ts imports node and the libraries that know proxies',
  },
  {
    layer: 'lib',
    files: /^lib\/(?!formats\/)/,
    project: [],
    packages: [PURE, /^(ipaddr\.js|lru-cache)$/],
    says: 'lib imports nothing of ours, and pure libraries',
  },
  {
    // What the system calls this machine lies in a file or in the registry.
    layer: 'lib/formats',
    files: /^lib\/formats\/machine\.ts$/,
    project: [],
    packages: [NODE],
    says: 'lib/formats/machine.ts imports lib and node',
  },
  {
    layer: 'lib/formats',
    files: /^lib\/formats\//,
    project: [],
    packages: [PURE, /^(tar|unicode-case-folding)$/, /^node:stream(\/promises)?$/],
    says: 'lib/formats imports lib and pure libraries',
  },
  {
    layer: 'kernel',
    files: /^kernel\/container\.ts$/,
    project: [PORTS],
    packages: [/^(tsyringe|reflect-metadata)$/],
    says: 'kernel/container.ts imports ports, lib and tsyringe',
  },
  {
    layer: 'kernel',
    files: /^kernel\/(contract\/index|inject)\.ts$/,
    project: [PORTS],
    packages: [/^(joi|tsyringe|reflect-metadata)$/],
    says: 'kernel/contract.ts and inject.ts import ports, lib, joi and tsyringe’s decorators',
  },
  {
    layer: 'kernel',
    files: /^kernel\/loading\//,
    project: [PORTS],
    packages: [NODE, /^<computed>$/],
    says: 'kernel/loading imports ports, lib, node and what the configuration names',
  },
  {
    layer: 'kernel',
    files: /^kernel\//,
    project: [PORTS],
    packages: [/^joi$/, /^node:(crypto|path|url|timers\/promises)$/],
    says: 'kernel imports ports, lib, joi and node without files and network',
  },
  {
    // The protocol's own library: it speaks web-standard requests and answers, and opens no socket
    // or file here.
    layer: 'plugins',
    files: /^plugins\/mcp\//,
    project: [PORTS, KERNEL_API],
    packages: [PURE, /^@modelcontextprotocol\/(core|server)$/],
    says: 'plugins/mcp imports what a plugin may, and the library of the Model Context Protocol',
  },
  {
    // The provider's protocol; requests leave through the port.
    layer: 'plugins',
    files: /^plugins\/access\/oidc\//,
    project: [PORTS, KERNEL_API],
    packages: [PURE, /^openid-client$/],
    says: 'plugins/access/oidc imports what a plugin may, and the library of OpenID Connect',
  },
  {
    layer: 'plugins',
    files: /^plugins\/access\/passkeys\//,
    project: [PORTS, KERNEL_API],
    packages: [PURE, /^@simplewebauthn\/server$/],
    says: 'plugins/access/passkeys imports what a plugin may, and the library that verifies passkeys',
  },
  {
    // What a comment quotes is what its page shows as a quote.
    layer: 'plugins',
    files: /^plugins\/bugs\//,
    project: [PORTS, KERNEL_API],
    packages: [PURE, /^markdown-it$/],
    says: 'plugins/bugs imports what a plugin may, and the library that reads Markdown',
  },
  {
    // Mail leaves by a library that speaks SMTP; everything else goes through the port.
    layer: 'plugins',
    files: /^plugins\/notifications\//,
    project: [PORTS, KERNEL_API],
    packages: [PURE, /^nodemailer$/],
    says: 'plugins/notifications imports what a plugin may, and the library that sends mail',
  },
  {
    // The manifest that the server signs is built by the module that the agent reads it with.
    layer: 'plugins',
    files: /^plugins\/releases\//,
    project: [PORTS, KERNEL_API, /^lib\/formats\//],
    packages: [PURE],
    says: 'plugins/releases imports what a plugin may, and formats: the rules of packages',
  },
  {
    // Which slugs no machine may have is asked by the service and by the agent.
    layer: 'plugins',
    files: /^plugins\/projects\//,
    project: [PORTS, KERNEL_API, /^lib\/formats\//],
    packages: [PURE],
    says: 'plugins/projects imports what a plugin may, and formats: the names of system directories',
  },
  {
    // The form of a license file is its verifiers’; RFC 8785 is the one text of an answer that is
    // signed.
    layer: 'plugins',
    files: /^plugins\/licensing\//,
    project: [PORTS, KERNEL_API, /^lib\/formats\//],
    packages: [PURE],
    says: 'plugins/licensing imports what a plugin may, and formats: license files and the JSON that is signed',
  },
  {
    // Logs come in protobuf too; its wire format is the library's.
    layer: 'plugins',
    files: /^plugins\/otlp\//,
    project: [PORTS, KERNEL_API],
    packages: [PURE, /^@bufbuild\/protobuf$/],
    says: 'plugins/otlp imports what a plugin may, and the library of protobuf’s wire format',
  },
  {
    // Cookies across the redirects of one asking.
    layer: 'plugins',
    files: /^plugins\/probes\//,
    project: [PORTS, KERNEL_API],
    packages: [PURE, /^tough-cookie$/],
    says: 'plugins/probes imports what a plugin may, and the library of cookies',
  },
  {
    // Due times of cron expressions over changes of daylight saving.
    layer: 'plugins',
    files: /^plugins\/watchdog\//,
    project: [PORTS, KERNEL_API],
    packages: [PURE, /^croner$/],
    says: 'plugins/watchdog imports what a plugin may, and the library of cron expressions',
  },
  {
    layer: 'plugins',
    files: /^plugins\//,
    project: [PORTS, KERNEL_API],
    packages: [PURE],
    says: 'a plugin imports ports, lib, kernel/contract, kernel/errors, its own folder and pure libraries',
  },
  {
    // Configuration documents.
    layer: 'adapters/cli',
    files: /^adapters\/cli\/remote\//,
    project: [PORTS, /^kernel\//, SETTINGS],
    packages: [NODE, /^yaml$/],
    says: 'adapters/cli/remote imports what adapters/cli may, and the library of YAML',
  },
  {
    layer: 'adapters/cli',
    files: /^adapters\/cli\//,
    project: [PORTS, /^kernel\//, SETTINGS],
    packages: [NODE, /^joi$/],
    says: 'adapters/cli imports config, kernel, ports, lib and node; it receives what config/compose builds',
  },
  {
    layer: 'adapters',
    files: /^adapters\/memory\/release-store\.ts$/,
    project: [PORTS, /^lib\/formats\//],
    packages: [NODE],
    says: 'the release store in memory imports ports, lib, formats and node',
  },
  {
    // Packages are unpacked by the same strict rules as on a disk.
    layer: 'adapters',
    files: /^adapters\/mongodb\/gridfs\/contents\.ts$/,
    project: [PORTS, /^lib\/formats\//],
    packages: [/^mongodb$/, NODE],
    says: 'the files of releases in GridFS import what the adapter may, and formats: the rules of packages',
  },
  ...Object.entries(DRIVERS).map(([name, driver]): Rule => ({
    layer: 'adapters',
    files: new RegExp(`^adapters/${name}/`),
    project: [PORTS, /^kernel\/errors$/],
    packages: [driver, NODE],
    says: `an adapter imports ports, lib, kernel/errors, its own folder, node and its driver (${name})`,
  })),
  {
    // The server reads packages by the same strict rules as the programs that unpack them.
    layer: 'adapters',
    files: /^adapters\/fs\//,
    project: [PORTS, /^kernel\/errors$/, /^lib\/formats\//],
    packages: [NODE],
    says: 'adapters/fs imports what an adapter may, and formats: the rules of packages',
  },
  {
    // Backups are read by the strict reader of packages, and written by the encoder of headers that
    // it decodes by.
    layer: 'adapters',
    files: /^adapters\/archive\//,
    project: [PORTS, /^lib\/formats\//],
    packages: [NODE, /^tar$/],
    says: 'adapters/archive imports ports, lib, formats (the strict reader), node and the library that knows tar',
  },
  {
    layer: 'adapters',
    files: /^adapters\//,
    project: [PORTS, /^kernel\/errors$/],
    packages: [NODE],
    says: 'an adapter imports ports, lib, kernel/errors, its own folder, node and its driver',
  },
  {
    layer: 'web',
    files: /^web\//,
    project: [PORTS],
    // Scales, ticks and paths: pure functions from numbers to text.
    packages: [/^(d3-(scale|shape)|markdown-it)$/],
    says: 'web imports ports, lib, the pure parts of D3 and markdown-it',
  },
  {
    layer: 'config/compose',
    files: /^config\/compose\//,
    project: [/^(kernel|ports|adapters(?!\/cli\/)|plugins|web|config)\//],
    packages: [NODE, /^(joi|reflect-metadata)$/],
    says: 'config/compose builds the service: it alone chooses adapters, and imports no command, client or test',
  },
  {
    layer: 'config',
    files: /^config\//,
    project: [PORTS],
    packages: [/^joi$/, NODE],
    says: 'config imports ports, lib, joi and node',
  },
  {
    layer: 'clients',
    files: ALONE,
    project: [/^lib\/formats\//],
    packages: [NODE],
    says: 'clients/sdk is published alone: it imports lib/formats, its own folder and node',
  },
  {
    layer: 'clients',
    files: /^clients\/agent\//,
    project: [/^lib\/formats\//],
    packages: [NODE, PURE, /^(jsonc-parser|saxes)$/],
    says: 'clients/agent imports what a client may, and the libraries that know JSON with comments and XML',
  },
  {
    // Writes archives, the same bytes everywhere.
    layer: 'clients',
    files: /^clients\/packager\//,
    project: [/^lib\/formats\//],
    packages: [NODE, PURE, /^(tar|pako)$/],
    says: 'clients/packager imports what a client may, and the libraries that write archives',
  },
  {
    layer: 'clients',
    files: /^clients\//,
    project: [/^lib\/formats\//],
    packages: [NODE, PURE],
    says: 'a client imports lib/formats, lib, its own folder and node, and nothing of the server',
  },
  {
    layer: 'main',
    files: /^main\.ts$/,
    project: [/^adapters\/cli\/main$/, /^config\/compose\/composition$/],
    packages: [],
    says: 'main.ts passes the composition to the command line',
  },
  {
    layer: 'test/kit',
    files: /^test\/kit\/contracts\//,
    project: [PORTS, /^adapters\//],
    packages: [NODE, /^(chai|fast-check)$/],
    says: 'a contract suite imports ports, lib, adapters, chai and fast-check',
  },
  {
    layer: 'test/kit',
    files: /^test\/kit\//,
    project: [PORTS, /^(kernel|web)\//, /^adapters\/(memory|hapi|sqlite)\//],
    packages: [NODE],
    says: 'test/kit composes the kernel: it imports kernel, ports, lib, web and adapters/(memory, hapi, sqlite)',
  },
  { layer: 'test', files: /^(test|scripts)\//, project: [ANYTHING], packages: [ANYTHING], says: '' },
];

/** Names that only certain files may take from a package they may import. */
const NAMES: readonly { module: string; names: readonly string[]; files: RegExp; says: string }[] = [
  {
    module: 'tsyringe',
    names: ['*', 'default', 'container', 'singleton', 'autoInjectable', 'registry', 'scoped'],
    files: /^kernel\/container\.ts$/,
    says: 'only kernel/container.ts imports tsyringe’s container',
  },
  {
    module: 'node:process',
    names: ['*', 'default', 'env'],
    files: /^(config|clients)\//,
    says: 'only config reads the environment',
  },
];

const GLOBALS: Readonly<Record<string, { files: RegExp; says: string }>> = {
  'process.env': {
    files: /^(config|clients|test|scripts)\/|^lib\/formats\/machine\.ts$/,
    says: 'only config reads the environment',
  },
  console: { files: /^(adapters\/cli|test|scripts|clients)\//, says: 'only adapters/cli writes to the terminal' },
};

/**
 * `plugins/bugs`, `ports`, `main`: what a file belongs to. `file` is relative to the project, with
 * slashes.
 */
export function unitOf(file: string): string {
  const [layer = '', name = ''] = file.split('/');
  if (['plugins', 'adapters', 'clients'].includes(layer)) return `${layer}/${name}`;
  const inner = /^(lib\/formats|config\/compose|test\/kit)\//.exec(file);
  if (inner !== null) return inner[1] as string;
  return layer.replace(/\.ts$/, '');
}

/**
 * The path of the project that `module` means in `file`, without extension; null for packages and
 * node's own.
 */
export function targetOf(file: string, module: string): string | null {
  if (!/^\.{1,2}(\/|$)/.test(module)) return null;
  return posix.join(posix.dirname(file), module).replace(/\.(js|ts|json)$/, '');
}

/** `<file> imports <module>: <rule>`, one for each violation. */
export function violationsOf(file: string, { imports, globals }: FileFacts): string[] {
  const rule = RULES.find(({ files }) => files.test(file));
  if (rule === undefined) return [`${file}: belongs to no layer`];
  const bare = (module: string): string => module.replace(/^(@[^/]+\/[^/]+|(?!node:|@)[^/]+)\/.*$/, '$1');
  const found = imports.flatMap(({ module, names }) => {
    const target = targetOf(file, module);
    const own = target !== null && unitOf(target) === unitOf(file);
    const allowed =
      target === null
        ? rule.packages.some((p) => p.test(bare(module)))
        : own || rule.project.some((p) => p.test(target)) || (LIB.test(target) && !ALONE.test(file));
    if (!allowed) return [`${file} imports ${module}: ${rule.says}`];
    const narrow = NAMES.filter((n) => n.module === module && !n.files.test(file) && !/^(test|scripts)\//.test(file));
    return narrow
      .filter((n) => names.some((name) => n.names.includes(name)))
      .map((n) => `${file} imports ${module}: ${n.says}`);
  });
  const used = [...new Set(globals)].filter((name) => GLOBALS[name]?.files.test(file) === false);
  return [...found, ...used.map((name) => `${file} uses ${name}: ${GLOBALS[name]?.says}`)];
}

/**
 * The rules as rows of a table: which files, and what they may import (docs/architecture.md shows
 * them).
 */
export const ruleRows = (): string[] =>
  RULES.filter(({ says }) => says !== '').map(({ files, says }) => {
    const path = files.source.replaceAll(/\\(.)/g, '$1').replaceAll(/[\^$]/g, '');
    return `| \`${path.replaceAll('|', ', ')}\` | ${says} |`;
  });
