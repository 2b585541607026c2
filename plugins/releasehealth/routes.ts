import joi from 'joi';
import { withSchemaName, whole, type RouteSpec } from '../../kernel/contract/index.js';
import { notFound, requireProject } from '../../kernel/errors.js';
import type { ProjectDirectory } from '../../ports/domain/projects.js';
import type { ReleaseHealthQuery, ReleaseHealth } from '../../ports/domain/release-health.js';
import type { Principal } from '../../ports/http/index.js';

export const MAX_HOURS = 720;
export const DEFAULT_HOURS = 24;

const count = joi.number().integer().min(0);
const share = joi.number().min(0).max(1).allow(null);
const counts = {
  started: count.description('Sessions'),
  errored: count.description('Sessions with an error that ended normally'),
  crashed: count.description('Sessions that crashed'),
  abnormal: count.description('Sessions that ended abnormally: killed by the system, or not responding'),
};

const version = withSchemaName(
  'VersionHealth',
  whole({
    version: joi
      .string()
      .allow(null)
      .description('Null for unverified versions beyond a hundred per hour, which are counted together'),
    ...counts,
    crash_free_sessions: share.description('1 − crashed ÷ started; null without sessions'),
    people: count.description('Estimated distinct people; only those reported by SDKs'),
    crashed_people: count.description('People with a crash'),
    crash_free_people: share.description('1 − crashed_people ÷ people; null without reported people'),
    adoption: share.description('The version’s share in the sessions of the project'),
    hours: joi
      .array()
      .items(
        withSchemaName('HealthHour', whole({ hour: joi.string().isoDate().description('Its beginning'), ...counts })),
      )
      .description('Each hour of the period, by start of the sessions; the current one last'),
  }),
);

export const buildReleaseHealthRoutes = (
  figures: ReleaseHealth,
  projects: Pick<ProjectDirectory, 'get'>,
): RouteSpec[] => [
  {
    method: 'GET',
    path: '/api/errors/v1/health',
    tag: 'errors',
    operationId: 'releaseHealth',
    summary: 'Get sessions by version: how many started, failed and crashed',
    description:
      'The version with the most sessions first. Sessions are reported by Sentry SDKs with a configured release.',
    access: { scope: 'bugtracker:read' },
    strictQuery: true,
    input: {
      query: joi.object({
        project: joi.string().max(64).required(),
        version: joi.string().max(200).description('Only this version; `1.2` and `1.2.0` are the same'),
        environment: joi.string().max(200).description('Only sessions of this environment'),
        hours: joi
          .number()
          .integer()
          .min(1)
          .max(MAX_HOURS)
          .default(DEFAULT_HOURS)
          .description('Including the current hour'),
      }),
    },
    output: withSchemaName(
      'ReleaseHealth',
      whole({ project: joi.string(), hours: joi.number().integer(), versions: joi.array().items(version) }),
    ),
    errors: ['not_found'],
    handle: async ({ principal, query }) => {
      const question = query as unknown as ReleaseHealthQuery;
      const { project, hours } = question;
      requireReadAccess(principal, project);
      if ((await projects.get(project)) === null) throw notFound(`project ${project}`);
      return { project, hours, versions: await figures.listVersions(question) };
    },
  },
];

/** @throws ServiceError insufficient_scope when the token is for another project */
function requireReadAccess(principal: Principal, project: string): void {
  if (principal.kind === 'token') requireProject(principal.project, project);
}
