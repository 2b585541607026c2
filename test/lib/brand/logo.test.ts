/**
 * Attacks by pictures: huge ones, ones that carry metadata or a second file, ones that are none
 * (docs/security.md).
 */
import { crc32, deflateSync } from 'node:zlib';
import { expect } from 'chai';
import fc from 'fast-check';
import { readLogo, type Logo } from '../../../lib/brand/logo.js';

const SECRET = 'Ada Lovelace, 51.5N 0.1W';

function part(name: string, data: Buffer): Buffer {
  const checked = Buffer.concat([Buffer.from(name, 'latin1'), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(checked));
  return Buffer.concat([length, checked, sum]);
}
function png(width: number, height: number, ...more: Buffer[]): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 0], 8);
  const data = part('IDAT', deflateSync(Buffer.from([0, 0])));
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    part('IHDR', head),
    ...more,
    data,
    part('IEND', Buffer.alloc(0)),
  ]);
}
/** One pixel, with the end that files of this size often lack. */
const JPEG = Buffer.concat([
  Buffer.from(
    '/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP//////////////////////////////////////////////////////////////////////////////////////' +
      'wgALCAABAAEBAREA/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQABPxA=',
    'base64',
  ),
  Buffer.from('ffd9', 'hex'),
]);
function jpegWith(marker: number, text: string): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(text.length + 2);
  return Buffer.concat([JPEG.subarray(0, 2), Buffer.from([0xff, marker]), length, Buffer.from(text), JPEG.subarray(2)]);
}
const WEBP = Buffer.from('UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA', 'base64');
const LOSSLESS = Buffer.from('UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==', 'base64');
function webp(...chunks: [name: string, data: Buffer][]): Buffer {
  const one = ([name, data]: [string, Buffer]): Buffer => {
    const length = Buffer.alloc(4);
    length.writeUInt32LE(data.length);
    return Buffer.concat([Buffer.from(name), length, data, Buffer.alloc(data.length % 2)]);
  };
  return one(['RIFF', Buffer.concat([Buffer.from('WEBP'), ...chunks.map(one)])]);
}
function canvas(width: number, height: number, flags: number): Buffer {
  const data = Buffer.alloc(10);
  data[0] = flags;
  data.writeUIntLE(width - 1, 4, 3);
  data.writeUIntLE(height - 1, 7, 3);
  return data;
}
const LOSSY_DATA = WEBP.subarray(20, 20 + 0x16);
const LOGOS = { png: png(1, 1), jpeg: JPEG, webp: WEBP, lossless: LOSSLESS };

const taken = (bytes: Buffer): Logo => {
  const logo = readLogo(bytes);
  if (typeof logo === 'string') throw new Error(logo);
  return logo;
};

describe('lib: logo images', () => {
  for (const [kind, bytes] of Object.entries(LOGOS)) {
    it(`accepts a plain ${kind} unchanged`, () => expect(taken(bytes).bytes.equals(bytes)).to.equal(true));

    it(`rejects a ${kind} with trailing bytes, or truncated anywhere`, () => {
      for (const more of ['\0', '<script>alert(1)</script>', 'PK\x03\x04'])
        expect(readLogo(Buffer.concat([bytes, Buffer.from(more)])), more).to.match(/after the end/);
      for (let end = 0; end < bytes.length; end++)
        expect(readLogo(bytes.subarray(0, end)), String(end)).to.be.a('string');
    });
  }

  it('removes metadata', () => {
    const text = Buffer.from(`Author\0${SECRET}`);
    const reported = [
      png(1, 1, part('tEXt', text), part('eXIf', text), part('iTXt', text), part('zTXt', text), part('tIME', text)),
      jpegWith(0xe1, `Exif\0\0${SECRET}`),
      jpegWith(0xed, `Photoshop 3.0\0${SECRET}`),
      jpegWith(0xfe, SECRET),
      webp(['VP8X', canvas(1, 1, 0x0c)], ['VP8 ', LOSSY_DATA], ['EXIF', text], ['XMP ', text], ['MINE', text]),
    ];
    for (const bytes of reported) {
      const logo = taken(bytes);
      expect(logo.bytes.includes('Ada')).to.equal(false);
      expect(taken(logo.bytes).bytes.equals(logo.bytes), 'is a picture still').to.equal(true);
    }
  });

  it('rejects images above 4,096 pixels on a side, and images of zero pixels', () => {
    const wide = Buffer.from(JPEG);
    wide.writeUInt16BE(4_097, wide.indexOf(Buffer.from('ffc2', 'hex')) + 7);
    const lossy = Buffer.from(WEBP);
    lossy.writeUInt16LE(4_097, 28);
    const lossless = Buffer.from(LOSSLESS);
    lossless.writeUInt32LE(4_096, 21);
    for (const bytes of [png(4_097, 1), png(1, 100_000), png(0, 1), wide, lossy, lossless])
      expect(readLogo(bytes)).to.match(/4096 pixels/);
    expect(taken(png(4_096, 4_096)).type).to.equal('image/png');
  });

  it('rejects other file types, inconsistent files and animations', () => {
    const damaged = Buffer.from(LOGOS.png);
    damaged[17] = 9;
    for (const bytes of [
      ...['<svg onload="x"/>', 'GIF89a', '', 'RIFF'].map((text) => Buffer.from(text)),
      Buffer.from('89504e470d0a1a0a00', 'hex'),
      Buffer.from('ffd8ffe0', 'hex'),
      damaged,
      png(1, 1, part('EVIL', Buffer.alloc(4))),
      webp(['VP8X', canvas(2, 1, 0)], ['VP8 ', LOSSY_DATA]),
      webp(['VP8X', canvas(1, 1, 0x02)], ['ANIM', Buffer.alloc(6)], ['ANMF', LOSSY_DATA]),
      webp(['VP8 ', LOSSY_DATA], ['VP8 ', LOSSY_DATA]),
    ])
      expect(readLogo(bytes)).to.be.a('string');
  });

  it('never throws for any bytes', () => {
    const starts = [
      Buffer.from('89504e470d0a1a0a', 'hex'),
      Buffer.from('ffd8', 'hex'),
      Buffer.from('RIFF\x10\0\0\0WEBP'),
    ];
    fc.assert(
      fc.property(
        fc.constantFrom(...starts, ...Object.values(LOGOS)),
        fc.uint8Array({ maxLength: 200 }),
        (start, rest) => {
          readLogo(Buffer.concat([start, rest]));
        },
      ),
    );
  });
});
