/** The brand of a project in the API; added to contract 15, API. */
import joi from 'joi';
import { named, stated, whole, type HttpRequest, type RouteSpec } from '../../../kernel/contract.js';
import { invalid } from '../../../kernel/errors.js';
import { LOGO_BYTES } from '../../../lib/brand/logo.js';
import { brandBody, brandShape, type BrandFields } from './brand.js';
import type { Brands } from './brands.js';
import { SLUG } from '../project.js';

const PATH = '/api/projects/v1/projects/{slug}/brand';
const READ = { scope: 'projects:read' } as const;
const MANAGE = { scope: 'projects:manage' } as const;
const params = joi.object({ slug: joi.string().pattern(SLUG, 'slug').required() });
const output = named('ProjectBrandAnswer', whole({ brand: brandShape }));
const slugOf = ({ params: { slug = '' } }: HttpRequest): string => slug;

export const brandRoutes = (brands: Brands): RouteSpec[] => [
  {
    method: 'GET',
    path: PATH,
    operationId: 'getProjectBrand',
    summary: 'Whose product a project is, as customers see it',
    access: READ,
    input: { params },
    output,
    errors: ['not_found'],
    handle: async (request) => ({ brand: await brands.view(request.principal, slugOf(request)) }),
  },
  {
    method: 'PATCH',
    path: PATH,
    operationId: 'changeProjectBrand',
    summary: 'Change whose product a project is: only what is named is written',
    description: 'The page `/license` shows it, and status pages of the project that have nothing of their own.',
    access: MANAGE,
    input: { params, body: brandBody },
    output,
    errors: ['not_found'],
    handle: async (request) => ({
      brand: await brands.change(request.principal, slugOf(request), request.body as BrandFields),
    }),
  },
  {
    method: 'PUT',
    path: `${PATH}/logo`,
    operationId: 'setProjectLogo',
    summary: 'Give a project its logo',
    description: `The body is a picture of PNG, JPEG or WebP, of ${LOGO_BYTES / 1024} KiB at most; its bytes decide what it is.`,
    access: MANAGE,
    input: {
      params,
      body: stated({ type: 'string', format: 'binary' }, joi.binary().required()),
      mediaType: 'application/octet-stream',
    },
    limits: { payload: 'raw', bytes: LOGO_BYTES },
    output,
    errors: ['not_found', 'validation_failed'],
    handle: async (request) => {
      const { body } = request;
      if (!Buffer.isBuffer(body) || body.length === 0) throw invalid({ logo: 'is required' });
      return { brand: await brands.change(request.principal, slugOf(request), {}, body) };
    },
  },
  {
    method: 'DELETE',
    path: `${PATH}/logo`,
    operationId: 'removeProjectLogo',
    summary: 'Take the logo off a project',
    access: MANAGE,
    input: { params },
    output,
    errors: ['not_found'],
    handle: async (request) => ({ brand: await brands.change(request.principal, slugOf(request), {}, null) }),
  },
];
