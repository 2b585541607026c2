import joi from 'joi';
import { withSchemaName, withJsonSchema, whole, type RouteSpec } from '../../../kernel/contract/index.js';
import { invalid, notFound } from '../../../kernel/errors.js';
import { normalizeTime } from '../../../lib/time.js';
import type { BuildCommit } from '../../../ports/domain/releases.js';
import { checkCanChange } from '../lists.js';
import { checkChannel, checkVersion } from '../release-place.js';
import type { ReleaseServices } from '../services.js';
import { UPDATE_SERVICE_PATH, parseProduct } from './update-check-routes.js';
import { channel, product, versionText } from './schemas.js';

const MAX_COMMITS = 1_000;
const MAX_FILES_PER_COMMIT = 1_000;

const commitSchema = withSchemaName(
  'BuildCommit',
  joi.object({
    id: joi
      .string()
      .pattern(/^[0-9a-f]{7,64}$/, 'a hex hash')
      .required(),
    author_name: joi.string().max(500).allow('', null).default(null),
    timestamp: withJsonSchema(
      { format: 'date-time' },
      joi
        .string()
        .max(64)
        .custom((text: string, helpers) => normalizeTime(text) ?? helpers.error('any.invalid'))
        .messages({ 'any.invalid': 'must be an ISO 8601 date, for example 2026-11-20T08:15:30Z' })
        .allow(null)
        .default(null),
    ),
    message: joi.string().max(4_000).allow('').required().description('Only its first line is stored'),
    files: joi
      .array()
      .items(joi.string().max(4_096))
      .max(MAX_FILES_PER_COMMIT)
      .default([])
      .description('Paths from the root of the repository'),
  }),
);

const bodySchema = withSchemaName(
  'ReleaseCommits',
  joi
    .object({
      product: product.required(),
      version: versionText.required(),
      channel,
      range: joi.string().max(200).allow(null).default(null).description('The git range of the commits'),
      commits: joi.array().items(commitSchema).max(MAX_COMMITS).required().description('Newest first'),
      truncated: joi.boolean().default(false).description('There were more'),
    })
    .example({
      product: 'shop',
      version: '1.4.0',
      range: '1.3.0..HEAD',
      commits: [{ id: '3f2a91c5d0', author_name: 'Ada', message: 'Round prices', files: ['src/cart.js'] }],
    }),
);

const answerSchema = withSchemaName(
  'ReleaseCommitsKept',
  whole({
    product: joi.string(),
    version: joi.string(),
    commits: joi.number().integer().description('Number of stored commits: at most the newest 500'),
    truncated: joi.boolean().description('Commits, or some of their files, were omitted'),
  }),
);

interface CommitsBody {
  product: string;
  version: string;
  channel: string;
  range: string | null;
  commits: BuildCommit[];
  truncated: boolean;
}

export const commitsRoute = ({ deps, docs }: ReleaseServices): RouteSpec => ({
  method: 'POST',
  path: `${UPDATE_SERVICE_PATH}/commits`,
  operationId: 'setReleaseCommits',
  summary: 'Set the commits of a published version',
  description:
    'They replace earlier ones. The first line, the author and the files of each are stored, so that an item of the ' +
    'bug tracker can list those that changed a file of its stack trace. Secrets in them are scrubbed.',
  access: { scope: 'updateservice:publish' },
  input: { body: bodySchema },
  output: answerSchema,
  errors: ['not_found'],
  limits: { space: true },
  handle: async ({ body: given, principal }) => {
    const input = given as CommitsBody;
    const slug = parseProduct(input.product);
    checkCanChange(principal, slug);
    const version = checkVersion(input.version);
    const history = deps.history();
    const [published] = await docs.listByVersion(slug, checkChannel(input.channel, invalid), version);
    if (history === undefined || published === undefined) throw notFound('release of this version');
    const { range, commits, truncated } = input;
    const stored = await history.save(slug, version, { range, commits, truncated });
    return { product: slug, version: published.version, commits: stored.commits.length, truncated: stored.truncated };
  },
});
