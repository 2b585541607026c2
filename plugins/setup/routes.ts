import joi from 'joi';
import {
  created,
  invalid,
  withSchemaName,
  Reply,
  withJsonSchema,
  whole,
  type HttpRequest,
  type RouteSpec,
} from '../../kernel/contract/index.js';
import { MONITOR_SOURCE_PATTERN } from '../../ports/domain/watchdog.js';
import type { ApplicationRequest, ApplicationTokenService } from './application-tokens.js';
import type { SetupCatalog } from './catalog.js';
import type { MachineRequest, SetupMachineService } from './machine.js';
import { requireInstaller, type SetupLoginService } from './session.js';

const BASE_PATH = '/api/setup/v1';
const INSTALL_ACCESS = { scope: 'setup:install' } as const;
const PLATFORMS = ['any', 'win-x64', 'linux-x64', 'linux-arm64'];

const singleLine = (max: number) =>
  joi
    .string()
    .trim()
    .min(1)
    .max(max)
    .pattern(/\p{Cc}/u, { invert: true, name: 'free of control characters' });
const platform = joi.string().valid(...PLATFORMS);
const slug = joi.string().max(64);
const timestamp = joi.string().isoDate();

const loginBody = withSchemaName(
  'SetupCredentials',
  joi
    .object({ username: joi.string().max(256).required(), password: joi.string().max(1024).required() })
    .example({ username: 'installer', password: 'violet-harbour-lantern' }),
);

const loginAnswer = withSchemaName(
  'SetupLogin',
  whole({
    token: joi.string().description('svc_setup_…; only for setup routes'),
    token_type: joi.string().valid('Bearer'),
    expires_at: timestamp,
    expires_in: joi.number().integer().description('Seconds'),
    scopes: joi.array().items(joi.string()),
    account: whole({ username: joi.string(), role: joi.string().valid('admin', 'installer') }),
  }),
);

const channelShape = withSchemaName(
  'CatalogChannel',
  whole({
    channel: joi.string(),
    version: joi.string(),
    platform,
    published_at: timestamp,
    package_size: joi.number().integer().description('Bytes'),
    signed: joi.boolean(),
  }),
);

const catalogAnswer = withSchemaName(
  'Catalog',
  whole({
    platform,
    projects: joi.array().items(
      withSchemaName(
        'CatalogProject',
        whole({
          slug: joi.string(),
          name: joi.string(),
          description: joi.string().allow(null),
          channels: joi.array().items(channelShape),
          requires_runtime: joi.any().description('Version that must be installed first; null for none'),
          has_setup: joi.boolean().description('Its package has settings (setup.json)'),
        }),
      ),
    ),
  }),
);

const tokenBody = withSchemaName(
  'ApplicationTokenRequest',
  joi
    .object({
      project: slug.required(),
      name: singleLine(100).description('Default: the project, and the machine if given'),
      scopes: joi
        .array()
        .items(joi.string().max(100))
        .max(50)
        .description('Restricts the scopes; default: all allowed by setup_scopes of the project'),
      expires_in_seconds: joi
        .number()
        .integer()
        .min(60)
        .max(10 * 366 * 86_400)
        .description('Default: no end'),
      machine_name: singleLine(200),
      replace: joi
        .boolean()
        .default(false)
        .description('Revoke earlier tokens with this name that were issued by setup'),
    })
    .example({ project: 'shop', machine_name: 'web-1' }),
);

const tokenAnswer = withSchemaName(
  'ApplicationToken',
  whole({
    token: joi.string(),
    id: joi.string(),
    scopes: joi.array().items(joi.string()),
    denied: joi.array().items(joi.string()).description('Requested but not granted'),
    expires_at: timestamp.allow(null),
    project: joi.string(),
  }),
);

const machineBody = joi.object({
  name: singleLine(200).required(),
  hostname: singleLine(253).required(),
  platform: platform.required(),
  interval_seconds: joi.number().integer().min(60).max(86_400).default(60),
  parent_source: joi.string().pattern(MONITOR_SOURCE_PATTERN, 'the source of a monitor').allow(null),
  project: slug.allow(null),
  replace: joi.boolean().default(false),
});

const withoutCaching = <T extends { header(name: string, value: string): T }>(answer: T): T =>
  answer.header('cache-control', 'no-store');

export interface SetupServices {
  login: SetupLoginService;
  catalog: SetupCatalog;
  applications: ApplicationTokenService;
  machines: SetupMachineService;
}

export function buildSetupRoutes({ login, catalog, applications, machines }: SetupServices): RouteSpec[] {
  return [
    {
      method: 'POST',
      path: `${BASE_PATH}/login`,
      operationId: 'logInToSetup',
      summary: 'Log in with an installer or administrator account',
      description: 'The token is valid for 30 minutes, for setup routes only.',
      access: 'public',
      limits: {
        bucket: 'login',
        // Only a successful login reaches this.
        proves: ({ body }) => `account ${(body as { username: string }).username.toLowerCase()}`,
      },
      errors: ['invalid_credentials', 'role_not_allowed', 'totp_not_supported'],
      input: { body: loginBody },
      output: loginAnswer,
      handle: async (request) => {
        const session = await login.login(request.body as { username: string; password: string }, request);
        return withoutCaching(new Reply(200, session));
      },
    },
    {
      method: 'GET',
      path: `${BASE_PATH}/catalog`,
      operationId: 'getCatalog',
      summary: 'List what can be installed on this platform',
      access: INSTALL_ACCESS,
      input: {
        // Validated in the handler, because a bad platform is 422 on every route (contract 60).
        query: joi.object({
          platform: withJsonSchema({ enum: PLATFORMS }, joi.string().max(200).default('any')).description(
            'Default: packages for any platform',
          ),
        }),
      },
      output: catalogAnswer,
      handle: async ({ principal, query }: HttpRequest) => {
        requireInstaller(principal);
        const requestedPlatform = query['platform'] as string;
        if (!PLATFORMS.includes(requestedPlatform))
          throw invalid({ platform: `must be one of ${PLATFORMS.join(', ')}` });
        return { platform: requestedPlatform, projects: await catalog.listForPlatform(requestedPlatform) };
      },
    },
    {
      method: 'POST',
      path: `${BASE_PATH}/token`,
      operationId: 'issueApplicationToken',
      summary: 'Create the permanent token of an application',
      access: INSTALL_ACCESS,
      errors: ['unknown_project', 'conflict'],
      input: { body: tokenBody },
      status: 201,
      output: tokenAnswer,
      handle: async ({ principal, body }) =>
        withoutCaching(created(await applications.issue(principal, body as ApplicationRequest))),
    },
    {
      method: 'POST',
      path: `${BASE_PATH}/agent`,
      hidden: true,
      summary: 'Create a monitor for this machine, with its token and report script',
      access: INSTALL_ACCESS,
      errors: ['unknown_project', 'conflict'],
      input: { body: machineBody },
      status: 201,
      handle: async ({ principal, body }) =>
        withoutCaching(created(await machines.create(principal, body as MachineRequest))),
    },
  ];
}
