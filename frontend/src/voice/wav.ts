/** Samples as a WAV file: 16-bit PCM, one channel. */

const HEAD = 44;

export function wavOf(blocks: Float32Array[], rate: number): Blob {
  const count = blocks.reduce((sum, block) => sum + block.length, 0);
  const view = new DataView(new ArrayBuffer(HEAD + 2 * count));
  const text = (at: number, value: string) => {
    for (let n = 0; n < value.length; n++) view.setUint8(at + n, value.charCodeAt(n));
  };
  text(0, "RIFF");
  view.setUint32(4, HEAD - 8 + 2 * count, true);
  text(8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, rate, true);
  view.setUint32(28, 2 * rate, true);
  view.setUint16(32, 2, true);
  view.setUint16(34, 16, true);
  text(36, "data");
  view.setUint32(40, 2 * count, true);
  let at = HEAD;
  for (const block of blocks) {
    for (const sample of block) {
      view.setInt16(at, Math.max(-1, Math.min(1, sample)) * 0x7fff, true);
      at += 2;
    }
  }
  return new Blob([view], { type: "audio/wav" });
}

/** How loud a block is, from 0 to 1; a logarithm, as ears have it. */
export function loudness(block: Float32Array): number {
  const mean = block.reduce((sum, sample) => sum + sample * sample, 0) / (block.length || 1);
  const decibels = 10 * Math.log10(mean + 1e-10);
  return Math.max(0, Math.min(1, (decibels + 60) / 60));
}
