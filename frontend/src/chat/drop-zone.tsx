import { type DragEvent, type ReactNode, useState } from "react";
import { useComposing } from "./composing";

interface DropZoneProps {
  /** No file may be attached. */
  disabled: boolean;
  className: string;
  children: ReactNode;
}

const brings = ({ dataTransfer }: DragEvent) => dataTransfer.types.includes("Files");

/** Where files can be dropped, to be attached to the message; `data-dragging` while they hover. */
export function DropZone({ disabled, className, children }: DropZoneProps) {
  const composing = useComposing();
  const [dragging, setDragging] = useState(false);
  const over = (event: DragEvent) => {
    if (disabled || !brings(event)) return;
    // Else the tab would show the file.
    event.preventDefault();
    setDragging(true);
  };
  const leave = (event: DragEvent) => {
    if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setDragging(false);
  };
  const drop = (event: DragEvent) => {
    setDragging(false);
    if (disabled || !brings(event)) return;
    event.preventDefault();
    for (const file of event.dataTransfer.files) void composing.add(file);
  };
  return (
    <div
      className={className}
      data-dragging={dragging || undefined}
      onDragEnterCapture={over}
      onDragOverCapture={over}
      onDragLeaveCapture={leave}
      onDropCapture={drop}
    >
      {children}
    </div>
  );
}
