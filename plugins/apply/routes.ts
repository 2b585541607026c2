/** `/api/admin/v1/apply`, the export, and the schema of the document (contract 97, apply). */
import joi from 'joi';
import {
  SharedBytes,
  text,
  whole,
  withJsonSchema,
  withSchemaName,
  type RouteSpec,
} from '../../kernel/contract/index.js';
import type { ConfigKind } from '../../ports/domain/config/kinds.js';
import type { ServiceCatalog } from '../../ports/domain/system.js';
import type { ApplyService } from './apply-service.js';
import { buildConfigSchema } from './config-schema.js';
import { MAX_DOCUMENT_BYTES } from './document.js';
import { exportConfig } from './export.js';

const BASE_PATH = '/api/admin/v1';
const ACCESS = [{ scope: 'system:manage' }, { session: 'admin' }] as const;
const JSON_TYPE_PATTERN = /^application\/json\b/i;

const buildFlag = (description: string): joi.BooleanSchema =>
  joi.boolean().truthy('1').falsy('0').default(false).description(description);
const textList = joi.array().items(joi.string());

const actionSchema = withSchemaName(
  'PlannedAction',
  whole({
    action: joi.string().valid('create', 'update', 'delete', 'unchanged'),
    kind: joi.string().description('Section of the document'),
    name: joi.string(),
    changes: joi
      .array()
      .items(whole({ field: joi.string(), from: joi.any(), to: joi.any() }))
      .description('Secrets are masked'),
  }),
);

interface RouteParts {
  service: ApplyService;
  kinds: () => readonly ConfigKind[];
  catalog: Pick<ServiceCatalog, 'getOpenApi'>;
}

export const buildApplyRoutes = (parts: RouteParts): RouteSpec[] => [
  buildApplyRoute(parts.service),
  buildExportRoute(parts.kinds),
  buildSchemaRoute(parts),
];

const buildApplyRoute = (service: ApplyService): RouteSpec => ({
  method: 'POST',
  path: `${BASE_PATH}/apply`,
  operationId: 'applyConfiguration',
  summary: 'Apply a configuration document',
  description:
    'YAML or JSON, as described in `config.schema.json`. Entries are matched by name, and omitted fields stay ' +
    'unchanged. Everything is validated before the first change: an error is 422 `validation_failed`, and `fields` contains ' +
    'its path in the document (`monitors[2].interval_seconds`). Safe to interrupt and to repeat.',
  access: ACCESS,
  input: {
    query: joi.object({
      dry_run: buildFlag('Return the plan and change nothing'),
      prune: buildFlag('Delete objects created by an earlier apply that the document does not contain'),
    }),
    body: withJsonSchema({ type: 'string', format: 'binary' }, joi.binary().required()),
    mediaType: ['application/yaml', 'application/json'],
  },
  limits: { payload: 'raw', bytes: MAX_DOCUMENT_BYTES, rate: 'bulk' },
  output: withSchemaName(
    'ConfigurationPlan',
    whole({
      plan: joi.array().items(actionSchema).description('In the order of execution'),
      applied: joi.boolean().description('False for a dry run'),
      warnings: textList,
    }),
  ),
  errors: ['validation_failed', 'conflict'],
  handle: async ({ principal, body, headers, query }) => ({
    ...(await service.apply(principal, Buffer.isBuffer(body) ? body : Buffer.alloc(0), {
      isJson: JSON_TYPE_PATTERN.test(headers['content-type'] ?? ''),
      dryRun: query['dry_run'] === true,
      prune: query['prune'] === true,
    })),
  }),
});

const buildExportRoute = (kinds: RouteParts['kinds']): RouteSpec => ({
  method: 'GET',
  path: `${BASE_PATH}/config`,
  operationId: 'exportConfiguration',
  summary: 'Export the configuration as a document that can be applied unchanged',
  description: 'Secrets are omitted; `secrets` lists their paths.',
  access: ACCESS,
  strictQuery: true,
  input: { query: joi.object({ project: joi.string().max(64).description('Only this project') }) },
  output: withSchemaName(
    'ConfigurationExport',
    whole({ document: joi.object().unknown(), secrets: textList, warnings: textList }),
  ),
  errors: ['not_found'],
  handle: async ({ principal, query }) => ({
    ...(await exportConfig(principal, kinds(), (query['project'] as string | undefined) ?? null)),
  }),
});

function buildSchemaRoute({ kinds, catalog }: RouteParts): RouteSpec {
  let schema: Promise<SharedBytes> | undefined;
  const buildBytes = async (): Promise<SharedBytes> =>
    new SharedBytes([Buffer.from(JSON.stringify(buildConfigSchema(kinds(), await catalog.getOpenApi())))]);
  return {
    method: 'GET',
    path: `${BASE_PATH}/config.schema.json`,
    operationId: 'getConfigurationSchema',
    summary: 'JSON Schema of the configuration document',
    description: 'Returned without the envelope and available without a credential, so that editors can load it.',
    access: 'public',
    hidden: true,
    handle: async () => {
      schema ??= buildBytes().catch((error: unknown) => {
        schema = undefined;
        throw error;
      });
      return text(await schema, 'application/json; charset=utf-8');
    },
  };
}
