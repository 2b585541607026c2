/**
 * Announced releases are not stored; their commits are, as suspects for new errors. Unsupported
 * calls return one sentence, which the tools display.
 */
import joi from 'joi';
import {
  withSchemaName as shape,
  Reply,
  whole,
  type HttpRequest,
  type RouteSpec,
} from '../../kernel/contract/index.js';
import { invalid } from '../../kernel/errors.js';
import type { BuildCommit, BuildHistory, PublishedVersions } from '../../ports/domain/releases.js';
import { normalizeTime } from '../../lib/time.js';
import { getVersionName } from '../../lib/versions.js';
import {
  withTrailingSlash,
  toMapUploader,
  getProjectHints,
  organizationSchema,
  sharedRouteOptions,
  slugSchema,
  versionSchema,
} from './tool-paths.js';
import type { MapUploadService } from './uploads.js';

export interface ToolReleaseDeps {
  uploads: Pick<MapUploadService, 'resolveProjects' | 'findProject'>;
  getHistory(): BuildHistory | undefined;
  getPublishedVersions(): PublishedVersions | undefined;
  getNow(): string;
}

const MAX_COMMITS = 1_000;
const COMMIT_ID_PATTERN = /^[0-9a-f]{7,64}$/i;

const releaseResponseSchema = shape(
  'ToolRelease',
  whole({
    version: joi.string(),
    dateCreated: joi.string().isoDate(),
    dateReleased: joi.string().isoDate().allow(null).description('Null if it was not published here'),
    newGroups: joi.number().integer(),
    projects: joi.array().items(joi.object()),
  }),
);
const releaseBodySchema = joi.object({ version: joi.string().max(200) }).unknown(true);
const commitsBodySchema = joi
  .object({
    version: joi.string().max(200),
    projects: joi.array().items(joi.string().max(200)).max(20),
    commits: joi
      .array()
      .items(joi.object().unknown(true))
      .max(MAX_COMMITS)
      .description('Commits of the version, newest first: `id`, `author_name`, `timestamp`, `message`, `patch_set`'),
    refs: joi.array().items(joi.object().unknown(true)).description('Repositories, which this service does not read'),
  })
  .unknown(true);

interface ToolCommit {
  id?: unknown;
  author_name?: unknown;
  timestamp?: unknown;
  message?: unknown;
  patch_set?: unknown;
}

interface AnnouncedRelease {
  version?: string;
  projects?: string[];
  commits?: ToolCommit[];
  refs?: unknown[];
}

const buildErrorReply = (status: number, code: string, detail: string): Reply =>
  new Reply(status, { detail, error: { code, message: detail } });

export function buildToolReleaseRoutes(parts: ToolReleaseDeps): RouteSpec[] {
  const projects = (request: HttpRequest, given: readonly string[]): Promise<string[]> =>
    parts.uploads.resolveProjects(toMapUploader(request), given, getProjectHints(request));
  const projectsIfAny = async (request: HttpRequest, given: readonly string[]): Promise<string[]> => {
    if (given.length > 0 || toMapUploader(request).principal.project !== null) return projects(request, given);
    const found = await parts.uploads.findProject(getProjectHints(request));
    return found === null ? [] : [found];
  };
  const view = (name: string, released: string | null, slugs: readonly string[]): object => ({
    version: name,
    dateCreated: released ?? parts.getNow(),
    dateReleased: released,
    newGroups: 0,
    projects: slugs.map((one) => ({ slug: one, name: one })),
  });
  const pathProject = ({ params: { project } }: HttpRequest): string[] => (project === undefined ? [] : [project]);

  const announce = async (request: HttpRequest): Promise<Reply> => {
    const { version: name = '', projects: given = [] } = request.body as AnnouncedRelease;
    return new Reply(201, view(name, null, await projectsIfAny(request, [...pathProject(request), ...given])));
  };

  const list = async (request: HttpRequest): Promise<object[]> => {
    const [project] = await projectsIfAny(request, pathProject(request));
    if (project === undefined) return [];
    const publishes = (await parts.getPublishedVersions()?.listPublishes(project)) ?? [];
    return publishes.map(({ version: name, published_at }) => view(name, published_at, [project]));
  };

  const show = async (request: HttpRequest): Promise<object> => {
    const { version: name = '' } = request.params;
    const slugs = await projectsIfAny(request, pathProject(request));
    const [project] = slugs;
    const publishes =
      project === undefined ? [] : await parts.getPublishedVersions()?.listPublishes(project, getVersionName(name));
    return view(name, publishes?.[0]?.published_at ?? null, slugs);
  };

  /** Stores the commits that a tool lists; a mere repository reference contains none. */
  const finalize = async (request: HttpRequest): Promise<object> => {
    const { version: name = '' } = request.params;
    const { commits = [], refs = [], projects: given = [] } = request.body as AnnouncedRelease;
    const named = [...pathProject(request), ...given];
    const slugs = commits.length > 0 ? await projects(request, named) : await projectsIfAny(request, named);
    if (commits.length > 0) {
      const history = parts.getHistory();
      const buildCommits = {
        range: null,
        commits: commits.flatMap(toBuildCommits),
        truncated: commits.length >= MAX_COMMITS,
      };
      if (buildCommits.commits.length === 0) throw invalid({ commits: 'must have an id of 7 to 64 hex digits each' });
      await toMapUploader(request).reauthorize();
      for (const project of slugs) await history?.save(project, getVersionName(name), buildCommits);
    } else if (refs.length > 0)
      return buildErrorReply(
        422,
        'validation_failed',
        'This service does not read repositories: send the commits with `sentry-cli releases set-commits --local`.',
      );
    return view(name, null, slugs);
  };

  const one = joi.object({ org: organizationSchema, version: versionSchema });
  const ofProject = one.keys({ project: slugSchema });
  const body = releaseBodySchema.fork('version', (schema) => schema.required());
  const all = joi.object({ org: organizationSchema });
  const allOfProject = joi.object({ org: organizationSchema, project: slugSchema });
  const both = (
    spec: Omit<RouteSpec, 'path' | 'operationId' | 'input'>,
    id: string,
    end: string,
    inputs: { params: joi.ObjectSchema; projectParams: joi.ObjectSchema; body?: joi.Schema },
  ): RouteSpec[] => [
    {
      ...spec,
      ...withTrailingSlash(`/organizations/{org}/releases${end}`),
      operationId: id,
      input: { params: inputs.params, ...(inputs.body && { body: inputs.body }) },
    },
    {
      ...spec,
      ...withTrailingSlash(`/projects/{org}/{project}/releases${end}`),
      operationId: `${id}OfProject`,
      input: { params: inputs.projectParams, ...(inputs.body && { body: inputs.body }) },
    },
  ];
  const many = { params: all, projectParams: allOfProject };
  const single = { params: one, projectParams: ofProject };
  return [
    {
      ...sharedRouteOptions,
      ...withTrailingSlash(''),
      method: 'GET',
      operationId: 'getToolAccess',
      summary: 'Get the permissions of a token, for tools',
      output: shape('ToolAccess', joi.object({ version: joi.string(), auth: joi.object(), user: joi.any() })),
      handle: (request) => ({ version: '0', auth: { scopes: toMapUploader(request).principal.scopes }, user: null }),
    },
    ...both(
      {
        ...sharedRouteOptions,
        method: 'POST',
        output: releaseResponseSchema,
        status: 201,
        summary: 'Create a release (accepted for tools)',
        description: 'Nothing is stored: releases are published with `/api/updateservice/v1`.',
        handle: announce,
      },
      'announceRelease',
      '',
      { ...many, body },
    ),
    ...both(
      {
        ...sharedRouteOptions,
        method: 'GET',
        output: joi.array().items(releaseResponseSchema),
        summary: 'List the published versions of a project, newest first',
        handle: list,
      },
      'listToolReleases',
      '',
      many,
    ),
    ...both(
      {
        ...sharedRouteOptions,
        method: 'GET',
        output: releaseResponseSchema,
        summary: 'Get a release, for tools',
        handle: show,
      },
      'getAnnouncedRelease',
      '/{version}',
      single,
    ),
    ...both(
      {
        ...sharedRouteOptions,
        method: 'PUT',
        output: releaseResponseSchema,
        summary: 'Set the commits of a release, or finalize it',
        description: 'Its commits replace earlier ones; items list those that changed their files.',
        limits: { inflate: true, space: true },
        handle: finalize,
      },
      'finalizeAnnouncedRelease',
      '/{version}',
      { ...single, body: commitsBodySchema },
    ),
    ...both(
      {
        ...sharedRouteOptions,
        method: 'DELETE',
        output: joi.object({}),
        summary: 'Reject the deletion of a release',
        errors: ['conflict'],
        handle: () =>
          buildErrorReply(
            409,
            'conflict',
            'Releases are withdrawn in the update service, and source maps expire automatically.',
          ),
      },
      'deleteToolRelease',
      '/{version}',
      single,
    ),
    {
      ...sharedRouteOptions,
      ...withTrailingSlash('/organizations/{org}/releases/{version}/previous-with-commits'),
      method: 'GET',
      operationId: 'getPreviousToolRelease',
      summary: 'Get the previous release with commits: always empty',
      input: { params: one },
      output: joi.object({}),
      handle: () => ({}),
    },
    {
      ...sharedRouteOptions,
      ...withTrailingSlash('/organizations/{org}/releases/{version}/deploys'),
      method: 'GET',
      operationId: 'listToolDeploys',
      summary: 'List the deploys of a release: always empty, because deploys are not stored',
      input: { params: one },
      output: joi.array().items(joi.object()),
      handle: () => [],
    },
    {
      ...sharedRouteOptions,
      ...withTrailingSlash('/organizations/{org}/releases/{version}/deploys'),
      method: 'POST',
      operationId: 'announceDeploy',
      summary: 'Reject a deploy, because deploys are not stored',
      input: { params: one, body: joi.object({}).unknown(true) },
      output: joi.object({}),
      handle: () =>
        buildErrorReply(
          422,
          'validation_failed',
          'This service does not store deploys: publish the release or raise its rollout instead.',
        ),
    },
    {
      ...sharedRouteOptions,
      ...withTrailingSlash('/organizations/{org}/repos'),
      method: 'GET',
      operationId: 'listToolRepositories',
      summary: 'List repositories: always empty',
      input: { params: all },
      output: joi.array().items(joi.object()),
      handle: () => [],
    },
  ];
}

function toBuildCommits({ id, author_name, timestamp, message, patch_set }: ToolCommit): BuildCommit[] {
  if (typeof id !== 'string' || !COMMIT_ID_PATTERN.test(id)) return [];
  const patches: unknown[] = Array.isArray(patch_set) ? patch_set : [];
  return [
    {
      id: id.toLowerCase(),
      author_name: typeof author_name === 'string' ? author_name : null,
      timestamp: typeof timestamp === 'string' ? normalizeTime(timestamp) : null,
      message: typeof message === 'string' ? message : '',
      files: patches.flatMap((patch) => {
        const { path } = (patch ?? {}) as { path?: unknown };
        return typeof path === 'string' ? [path] : [];
      }),
    },
  ];
}
