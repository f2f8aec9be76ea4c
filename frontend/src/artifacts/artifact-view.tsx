import Diagram from "@/markdown/diagram";
import { Markdown } from "@/markdown/markdown";
import { Source } from "@/markdown/source";
import { ArtifactFrame } from "./artifact-frame";
import type { Block } from "./find";
import { PythonView } from "./python-view";

const SVG_AROUND =
  "<!doctype html><style>body{margin:0;min-height:100vh;display:grid;place-items:center}" +
  "svg{max-width:100%;max-height:100vh}</style>";

/** What a block describes. HTML, SVG and programs need a frame: the others become no markup. */
export function ArtifactView({ block, title }: { block: Block; title: string }) {
  const { kind, code, whole } = block;
  if (kind === "html") return <ArtifactFrame title={title} html={code} whole={whole} />;
  if (kind === "svg") {
    return <ArtifactFrame title={title} html={SVG_AROUND + code} whole={whole} />;
  }
  if (kind === "python") return <PythonView code={code} whole={whole} />;
  return (
    <div className="scrollbar-quiet h-full overflow-y-auto px-5 py-4">
      {kind === "markdown" ? (
        <Markdown text={code} streaming={!whole} />
      ) : whole ? (
        <Diagram source={code} />
      ) : (
        <Source code={code} language="mermaid" incomplete />
      )}
    </div>
  );
}
