/**
 * /projects/{slug}/brand, where administrators edit the brand, and the two files that public pages
 * load.
 */
import joi from 'joi';
import {
  getFormFields,
  formPage,
  fromForm,
  Redirect,
  text,
  View,
  type FormFile,
  type HttpRequest,
  type PageSpec,
  type Problem,
} from '../../../kernel/contract.js';
import { notFound } from '../../../kernel/errors.js';
import { formatBrandStyles } from '../../../lib/brand/colour.js';
import { LOGO_BYTES, LOGO_HEADERS, LOGO_TYPES } from '../../../lib/brand/logo.js';
import { brandBody, type BrandFields } from './brand.js';
import type { Brands } from './brands.js';
import { SLUG } from '../project.js';
import type { Projects } from '../service.js';

const access = { session: 'admin' } as const;
const title = 'Seller';
const PATH = '/projects/{slug}/brand';
const params = joi.object({ slug: joi.string().pattern(SLUG, 'slug').required() });
/** Maximum delay of other processes' changes. */
const shared = { maxAgeMs: 1_600 };

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value.trim() : '') || null;
const slugOf = ({ params: { slug = '' } }: HttpRequest): string => slug;

export function brandPages(projects: Projects, brands: Brands): PageSpec[] {
  const page = async (request: HttpRequest, problem?: Problem): Promise<View> => {
    const { id: slug, name } = await projects.need(request.principal, slugOf(request));
    const brand = await brands.view(request.principal, slug);
    const { seller, colour } = problem === undefined ? brand : getFormFields(request);
    return new View('brand-form', {
      title,
      slug,
      brand,
      form: { seller, colour },
      types: LOGO_TYPES.join(','),
      logo_kib: LOGO_BYTES / 1024,
      preview: (await brands.of(slug)) && `/license?product=${encodeURIComponent(slug)}`,
      crumbs: [{ label: 'Projects', href: '/projects' }, { label: name, href: `/projects/${slug}` }, { label: title }],
      ...problem,
    });
  };
  const file = (name: string, make: (slug: string) => Promise<ReturnType<typeof text>>): PageSpec => ({
    path: `/brand/{slug}/${name}`,
    title,
    access: 'public',
    shared,
    input: { params },
    handle: (request) => make(slugOf(request)),
  });
  return [
    { path: PATH, title, access, input: { params }, handle: (request) => page(request) },
    formPage(
      { path: PATH, title, access, input: { params }, files: true },
      async (request) => {
        const form = getFormFields(request);
        const given = { seller: textOf(form['seller']), colour: textOf(form['colour']) };
        const fields = fromForm(brandBody, given, { convert: true }) as BrandFields;
        const { bytes } = (form['logo'] ?? {}) as Partial<FormFile>;
        // Browsers send an empty file field without a selection.
        const picked = Buffer.isBuffer(bytes) && bytes.length > 0 ? bytes : undefined;
        const logo = picked ?? (form['no_logo'] === 'true' ? null : undefined);
        const slug = slugOf(request);
        await brands.change(request.principal, slug, fields, logo);
        return new Redirect(`/projects/${slug}/brand`, { tone: 'success', message: 'Saved. Customers see it now.' });
      },
      page,
    ),
    file('logo', async (slug) => {
      const logo = await brands.logo(slug);
      if (logo === null) throw notFound('such picture');
      const picture = text(logo.bytes, logo.type);
      for (const [name, value] of Object.entries(LOGO_HEADERS)) picture.header(name, value);
      return picture;
    }),
    file('brand.css', async (slug) => {
      const brand = await brands.of(slug);
      if (brand === null) throw notFound('such style sheet');
      return text(formatBrandStyles(brand.colour), 'text/css; charset=utf-8');
    }),
  ];
}
