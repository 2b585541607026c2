import joi from 'joi';
import { named, whole, type Doc } from '../../../kernel/contract.js';
import { COLOUR, COLOUR_WORDS } from '../../../lib/brand/colour.js';
import type { SellerBrand } from '../../../ports/domain/projects.js';

/** The document id is the project's slug. */
export interface Brand extends Doc {
  /** '' for none; the index finds projects with a seller. */
  seller: string;
  /** `#0a6640` */
  colour: string | null;
  logo_type: string | null;
  /** Base64. */
  logo: string | null;
  updated_at: string;
}

export interface BrandFields {
  seller?: string | null;
  colour?: string | null;
}

export interface BrandView {
  seller: string | null;
  colour: string | null;
  logo_type: string | null;
  logo: string | null;
}

const pathOf = (slug: string, file: string): string => `/brand/${encodeURIComponent(slug)}/${file}`;

export const brandView = (slug: string, brand: Brand | null): BrandView => ({
  seller: brand?.seller || null,
  colour: brand?.colour ?? null,
  logo_type: brand?.logo_type ?? null,
  logo: (brand?.logo_type ?? null) === null ? null : pathOf(slug, 'logo'),
});

export function sellerBrand(slug: string, brand: Brand | null): SellerBrand | null {
  const { seller: name, colour, logo } = brandView(slug, brand);
  return name === null && colour === null && logo === null
    ? null
    : { name, colour, css: pathOf(slug, 'brand.css'), logo };
}

export const brandBody = named(
  'ProjectBrandChange',
  joi
    .object({
      seller: joi
        .string()
        .trim()
        .max(100)
        .pattern(/\p{Cc}/u, { invert: true, name: 'free of control characters' })
        .allow(null, '')
        .description('The name that customers read; null: none'),
      colour: joi
        .string()
        .pattern(COLOUR)
        .message(COLOUR_WORDS)
        .allow(null)
        .empty('')
        .description('Of the head of public pages; the text on it is black or white, whichever can be read better'),
    })
    .example({ seller: 'Shop Ltd', colour: '#0a6640' }),
);

export const brandShape = named(
  'ProjectBrand',
  whole({
    seller: joi.string().allow(null),
    colour: joi.string().allow(null),
    logo_type: joi.string().allow(null).description('`image/png`, `image/jpeg` or `image/webp`'),
    logo: joi.string().allow(null).description('Path of the picture'),
  }),
);
