/** Message to a customer with a license key: the key, its product, and the customer page. */
import { toXmlText } from '../../../lib/text/xml.js';

export interface KeyMessage {
  subject: string;
  text: string;
}

interface SoldLicense {
  product: string;
  licensee: string | null;
  expires_at: string | null;
  max_activations: number | null;
  floating: boolean;
}

export const buildCustomerPageUrl = (baseUrl: string, product: string): string =>
  `${baseUrl}/license/${encodeURIComponent(product)}`;

/** @param seller null: the product's name signs */
export function buildKeyMessage(
  license: SoldLicense,
  key: string,
  { product, seller, url }: { product: string; seller: string | null; url: string },
): KeyMessage {
  const { licensee, expires_at, max_activations, floating } = license;
  const machines =
    max_activations === null ? null : `${max_activations} ${max_activations === 1 ? 'machine' : 'machines'}`;
  const terms = [
    ...(machines === null ? [] : [`Valid for ${machines}${floating ? ' at the same time' : ''}`]),
    ...(expires_at === null ? [] : [`Expires ${expires_at.slice(0, 10)}`]),
  ];
  const lines = [
    licensee === null ? 'Hello,' : `Hello ${licensee},`,
    '',
    `here is your license key for ${product}:`,
    '',
    `    ${key}`,
    '',
    ...(terms.length === 0 ? [] : [...terms.map((term) => `${term}.`), '']),
    `See your license, deactivate machines and activate offline machines: ${url}`,
    '',
    seller ?? product,
  ];
  return { subject: `Your license key for ${product}`, text: lines.join('\n') };
}

export const buildMailtoUrl = (to: string, { subject, text }: KeyMessage): string =>
  `mailto:${encodeURIComponent(to).replaceAll('%40', '@')}?subject=${encodeURIComponent(subject)}&body=${encodeURIComponent(text.replaceAll('\n', '\r\n'))}`;

export const toMailHtml = (text: string): string => `<pre style="font: inherit">${toXmlText(text)}</pre>`;
