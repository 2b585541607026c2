/**
 * Every core configuration key. `config/default.json` and `docs/configuration.md` are generated
 * from this file (scripts/configuration.mjs).
 */
import joi from 'joi';
import type { HttpLimits } from '../ports/http/limits.js';
import { getSchemaMembers } from './schema-members.js';
import {
  validateBaseUrl,
  validateDataKey,
  validateLicenseKey,
  validateStorageUrl,
  validateTimezone,
} from './values.js';

export interface LimitsConfig extends HttpLimits {
  package_bytes: number;
  new_groups_per_hour: number;
  monitors_per_token: number;
}

/** Rules for grouping reports (contract 21, grouping key). */
export interface GroupingConfig {
  flood_items: number;
  mask_emails: boolean;
  mask_ip_addresses: boolean;
  mask_mac_addresses: boolean;
  mask_numbers: boolean;
  mask_short_numbers: boolean;
  mask_measures: boolean;
  mask_path_numbers: boolean;
  mask_process_ids: boolean;
  mask_long_words: boolean;
  mask_prefixed_ids: boolean;
}

export interface CoreConfig {
  server: { host: string; port: number; base_url: string | null; trusted_proxies: readonly string[] };
  data_dir: string;
  storage: {
    url: string;
    auto_migrate: boolean | null;
    durability: 'full' | 'normal';
    checkpoints: 'service' | 'external';
  };
  app: { debug: boolean; timezone: string };
  security: { shared_key: string; webhook_key: string; license_key: string | null; data_key: string | null };
  release_private_key: string | null;
  limits: LimitsConfig;
  grouping: GroupingConfig;
  log: { level: 'debug' | 'info' | 'warn' | 'error' | 'silent'; slow_ms: number };
  plugins: readonly string[];
  plugins_off: readonly string[];
}

/** Declares a named environment variable, in addition to `SVC_<SECTION>__<KEY>`. */
const withVariable = <S extends joi.Schema>(variable: string, schema: S): S => schema.meta({ env: variable }) as S;
const markSecret = <S extends joi.Schema>(schema: S): S => schema.meta({ secret: true }) as S;

const createBytesSchema = (amount: number, text: string): joi.NumberSchema =>
  joi.number().integer().min(1).max(Number.MAX_SAFE_INTEGER).unit('bytes').default(amount).description(text);
const createRateSchema = (amount: number, text: string): joi.NumberSchema =>
  joi
    .number()
    .integer()
    .min(0)
    .max(1_000_000_000)
    .unit('per minute')
    .default(amount)
    .description(`${text} 0: no limit.`);

const serverSchema = joi.object({
  host: withVariable('SVC_HOST', joi.string().hostname())
    .default('127.0.0.1')
    .description('Address to listen on. `0.0.0.0` or `::` listens on every interface.'),
  port: withVariable('SVC_PORT', joi.number().integer().min(0).max(65535))
    .default(8080)
    .description('TCP port to listen on. 0 picks a free one; `server.json` in the data directory contains it.'),
  base_url: withVariable('SVC_BASE_URL', joi.string().custom(validateBaseUrl).allow(null))
    .default(null)
    .description('Public URL of the service for users and programs. Default: the listen address.'),
  trusted_proxies: joi
    .array()
    .items(joi.string().ip({ cidr: 'optional' }))
    .default([])
    .description('Addresses or networks (CIDR) of proxies whose `X-Forwarded-For` is trusted.'),
});

const storageSchema = joi.object({
  url: withVariable('SVC_STORAGE_URL', markSecret(joi.string().custom(validateStorageUrl)))
    .default('sqlite:aos.db')
    .description(
      '`sqlite:<path>` (embedded; a relative path is below the data directory), `mongodb://…`, `mongodb+srv://…`, or `memory:` (tests).',
    ),
  auto_migrate: joi
    .boolean()
    .allow(null)
    .default(null)
    .description(
      'MongoDB only: apply pending migrations at start. Default: yes, except with `NODE_ENV=production`. The embedded store always migrates at start.',
    ),
  durability: joi
    .string()
    .valid('full', 'normal')
    .default('full')
    .description(
      'Embedded store: `full` survives a power failure; `normal` survives a killed process and is faster, but the last writes may be lost in a power failure.',
    ),
  checkpoints: joi
    .string()
    .valid('service', 'external')
    .default('service')
    .description(
      'Embedded store: `external` leaves checkpoints of the write-ahead log to Litestream (docs/replication.md). The log grows while Litestream does not run.',
    ),
});

const securitySchema = joi.object({
  shared_key: withVariable('SVC_SHARED_KEY', markSecret(joi.string().allow('')))
    .default('')
    .description(
      'Bearer value for server-to-server calls (evaluate, migrate, license deactivation). Empty: such calls are rejected.',
    ),
  webhook_key: withVariable('SVC_WEBHOOK_KEY', markSecret(joi.string().allow('')))
    .default('')
    .description('Signs webhooks that have no secret. Empty: such webhooks cannot be enabled.'),
  license_key: withVariable('SVC_LICENSE_KEY', markSecret(joi.string().allow(null).custom(validateLicenseKey)))
    .default(null)
    .description(
      'Signs license responses and `.lic` files: a PEM private key (Ed25519 or RSA), or a seed of 32 or more characters. Default: created in the data directory; required with MongoDB.',
    ),
  data_key: markSecret(joi.string().allow(null).custom(validateDataKey))
    .default(null)
    .description(
      'Encrypts secrets at rest (TOTP, webhook secrets); 32 or more characters. Default: created in the data directory; required with MongoDB.',
    ),
});

const limitsSchema = joi.object({
  json_bytes: createBytesSchema(1_048_576, 'Maximum size of a JSON body; for the errors intake, as transmitted.'),
  inflated_bytes: createBytesSchema(8_388_608, 'Maximum decompressed size of an intake body.'),
  package_bytes: createBytesSchema(2_147_483_648, 'Maximum size of a release package.'),
  intake_per_minute: createRateSchema(
    1200,
    'Error reports and heartbeats per token; each element of an array counts. Sessions, feedback and check-ins of SDKs have a separate limit of the same size.',
  ),
  intake_burst: joi
    .number()
    .integer()
    .min(0)
    .max(1_000_000_000)
    .default(300)
    .description('Maximum burst of these requests.'),
  api_per_minute: createRateSchema(600, 'All other requests, per token.'),
  bulk_per_minute: createRateSchema(30, 'Bulk requests, per token.'),
  auth_failures_per_minute: createRateSchema(20, 'Rejected credentials (401), per address.'),
  public_per_minute: createRateSchema(
    600,
    'Requests without a token, per address: update checks, license validations, the release store, logins and the rest each have a bucket of this size.',
  ),
  new_groups_per_hour: joi
    .number()
    .integer()
    .min(0)
    .max(1_000_000_000)
    .unit('per hour')
    .default(600)
    .description(
      'New error groups per public intake key; reports beyond the limit are counted in one overflow item of the project. 0: no limit.',
    ),
  monitors_per_token: joi
    .number()
    .integer()
    .min(0)
    .max(1_000_000_000)
    .default(10_000)
    .description('Maximum monitors created by the heartbeats of one token. 0: no limit.'),
});

const createMaskSchema = (what: string): joi.BooleanSchema =>
  joi.boolean().default(true).description(`Grouping ignores differences in ${what}.`);

const groupingSchema = joi.object({
  flood_items: joi
    .number()
    .integer()
    .min(0)
    .max(10_000)
    .default(25)
    .description(
      'Number of new items of one project, type, class and origin within an hour after which messages that differ only in words with digits are grouped. 0: never.',
    ),
  mask_emails: createMaskSchema('e-mail addresses'),
  mask_ip_addresses: createMaskSchema('IPv4 and IPv6 addresses, with their port'),
  mask_mac_addresses: createMaskSchema('MAC addresses'),
  mask_numbers: createMaskSchema('numbers of 6 or more digits'),
  mask_short_numbers: createMaskSchema(
    'numbers of 4 and 5 digits that do not follow a word for a code or port, while `grouping.mask_numbers` is enabled',
  ),
  mask_measures: createMaskSchema('numbers with a unit of time, size or share (`1673 ms`, `12 MiB`, `93%`)'),
  mask_path_numbers: createMaskSchema('numeric segments of a path or URL (`/orders/4711`)'),
  mask_process_ids: createMaskSchema(
    'process and thread IDs (`pid 4711`, `thread-12`, `[4711]` at the start of a line)',
  ),
  mask_long_words: createMaskSchema('words of 16 or more characters that mix letters with 4 or more digits'),
  mask_prefixed_ids: createMaskSchema('ids with a prefix (`pi_3Pph39e`)'),
});

export const coreSchema = joi.object({
  server: serverSchema.description('The listening side.'),
  data_dir: withVariable('SVC_DATA_DIR', joi.string())
    .default('data')
    .description(
      'Directory for everything that the service writes: store, keys, releases. Relative to the working directory.',
    ),
  storage: storageSchema.description('Where documents are stored.'),
  app: joi
    .object({
      debug: joi
        .boolean()
        .default(false)
        .description('Include exception texts in responses. Do not use in production.'),
      timezone: joi
        .string()
        .custom(validateTimezone)
        .default('UTC')
        .description('IANA time zone in which pages show times. Everything is stored in UTC.'),
    })
    .description('The application.'),
  security: securitySchema.description('Keys. Each can also be read from a file: `SVC_SHARED_KEY_FILE` and so on.'),
  release_private_key: withVariable('SVC_RELEASE_PRIVATE_KEY', joi.string().allow('', null))
    .default(null)
    .description(
      'Path of the RSA private key (PEM, at least 2,048 bits) that signs releases. Empty: releases are unsigned. Default: created in the data directory; required with MongoDB.',
    ),
  grouping: groupingSchema.description(
    'Which reports are grouped into one error (docs/grouping.md). A change applies to new reports.',
  ),
  limits: limitsSchema.description('Sizes and rates.'),
  log: joi
    .object({
      level: withVariable('SVC_LOG_LEVEL', joi.string().valid('debug', 'info', 'warn', 'error', 'silent'))
        .default('info')
        .description('Minimum level of logged lines.'),
      slow_ms: joi
        .number()
        .integer()
        .min(0)
        .max(86_400_000)
        .default(1_000)
        .unit('ms')
        .description('A request that takes longer is logged as a warning, at any level.'),
    })
    .description('The log on standard output.'),
  plugins: withVariable('SVC_PLUGINS', joi.array().items(joi.string()))
    .default([])
    .description('Additional plugins: package names, folders with a package.json, or module files.'),
  plugins_off: withVariable('SVC_PLUGINS_OFF', joi.array().items(joi.string()))
    .default([])
    .description(
      'IDs of plugins to disable, including built-in ones, together with the plugins that need them. Their data is retained. Critical plugins cannot be disabled.',
    ),
});

/**
 * The first administrator comes only from the environment, so that no password is stored in a file.
 */
export const FIRST_ADMIN_VARIABLES: ReadonlyMap<string, string> = new Map([
  ['SVC_ADMIN_USER', 'auth.admin_user'],
  ['SVC_ADMIN_PASSWORD', 'auth.admin_password'],
]);

export const coreKeys: ReadonlySet<string> = new Set(getSchemaMembers(coreSchema)?.keys());
