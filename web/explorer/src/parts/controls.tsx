/** Controls that more than one view has. */
import {
  Button,
  Checkbox,
  CheckboxGroup,
  Dialog,
  DialogTrigger,
  Heading,
  Input,
  Label,
  ListBox,
  ListBoxItem,
  Modal,
  ModalOverlay,
  Popover,
  Select,
  SelectValue,
  Text,
  TextArea,
  TextField,
} from "react-aria-components";
import { useState } from "react";

import { useAddress } from "../address";
import { isDay } from "./days";

export interface Choice {
  id: string;
  label: string;
}

/** One of several. */
export function Pick({
  label,
  value,
  choices,
  onChange,
  hideLabel = false,
}: {
  label: string;
  value: string;
  choices: readonly Choice[];
  onChange: (id: string) => void;
  hideLabel?: boolean;
}) {
  return (
    <Select
      className="pick"
      value={value}
      onChange={(key) => onChange(String(key))}
      {...(hideLabel ? { "aria-label": label } : {})}
    >
      {!hideLabel && <Label className="label">{label}</Label>}
      <Button className="button pick-button">
        <SelectValue />
        <span aria-hidden="true">▾</span>
      </Button>
      <Popover className="popover">
        <ListBox className="menu" items={choices.map((choice) => ({ ...choice }))}>
          {(choice) => (
            <ListBoxItem id={choice.id} className="menu-item" textValue={choice.label}>
              {choice.label}
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </Select>
  );
}

/** By which time a view lists and narrows. */
export function TimePick() {
  const address = useAddress();
  return (
    <Pick
      label="By the time"
      value={address.get("time")}
      choices={[
        { id: "", label: "when it happened" },
        { id: "recorded", label: "when it was learned" },
      ]}
      onChange={(time) => address.set({ time }, { push: true })}
    />
  );
}

export interface Count {
  value: string;
  /** Null where it is not known. */
  count: number | null;
}

/** One dimension of a faceted list: its values, how many there are of each, and which are chosen. */
export function Facet({
  label,
  counts,
  chosen,
  onChange,
  named = (value) => value.toLowerCase().replaceAll("_", " "),
}: {
  label: string;
  counts: readonly Count[];
  chosen: readonly string[];
  onChange: (chosen: string[]) => void;
  named?: (value: string) => string;
}) {
  const listed = [...counts, ...chosen.filter((one) => !counts.some(({ value }) => value === one)).map((value) => ({ value, count: 0 }))];
  if (!listed.length) return null;
  return (
    <CheckboxGroup className="facet" value={[...chosen]} onChange={onChange}>
      <Label>{label}</Label>
      {listed.slice(0, 14).map(({ value, count }) => (
        <Checkbox key={value} value={value} className="check">
          <span className="box" aria-hidden="true" />
          <span className="facet-name">{named(value)}</span>
          <span className="facet-count">{count?.toLocaleString()}</span>
        </Checkbox>
      ))}
    </CheckboxGroup>
  );
}

/** A field for a date; an empty one is none. */
/** A day. What is typed counts once it is a whole date: until then the view, and its address, stay as they are. */
export function DateField({ label, value, onChange }: { label: string; value: string; onChange: (value: string) => void }) {
  const [typed, setTyped] = useState<string | null>(null);
  const ignored = value !== "" && !isDay(value);
  const type = (day: string) => {
    setTyped(day);
    if (isDay(day)) onChange(day);
  };
  const leave = () => {
    if (typed === "" && value !== "") onChange("");
    setTyped(null);
  };
  return (
    <TextField className="field" value={typed ?? (ignored ? "" : value)} onChange={type} onBlur={leave} type="date">
      <Label>{label}</Label>
      <Input />
      {ignored && <Text slot="description">{`“${value.slice(0, 40)}” is not a date, and was ignored.`}</Text>}
    </TextField>
  );
}

export function Field({
  label,
  value,
  onChange,
  lines = 1,
  ...rest
}: {
  label: string;
  value: string;
  onChange: (value: string) => void;
  lines?: number;
  autoFocus?: boolean;
  placeholder?: string;
  isRequired?: boolean;
}) {
  const { placeholder, ...field } = rest;
  return (
    <TextField className="field" value={value} onChange={onChange} {...field}>
      <Label>{label}</Label>
      {lines > 1 ? <TextArea rows={lines} placeholder={placeholder} /> : <Input placeholder={placeholder} />}
    </TextField>
  );
}

/** A button that opens a dialog; its children are given how to close it. */
export function Opens({
  button,
  title,
  children,
  quiet = true,
  isDisabled = false,
  onOpen = () => undefined,
}: {
  button: React.ReactNode;
  title: string;
  children: (close: () => void) => React.ReactNode;
  quiet?: boolean;
  isDisabled?: boolean;
  onOpen?: (open: boolean) => void;
}) {
  return (
    <DialogTrigger onOpenChange={onOpen}>
      <Button className={`button ${quiet ? "quiet" : ""}`} isDisabled={isDisabled}>
        {button}
      </Button>
      <ModalOverlay className="overlay" isDismissable>
        <Modal className="modal">
          <Dialog className="dialog">
            {({ close }) => (
              <>
                <Heading slot="title">{title}</Heading>
                {children(close)}
              </>
            )}
          </Dialog>
        </Modal>
      </ModalOverlay>
    </DialogTrigger>
  );
}

/** The buttons below a form: what it does, and leaving it. */
export function FormButtons({ does, close, isDisabled = false }: { does: string; close: () => void; isDisabled?: boolean }) {
  return (
    <div className="row end">
      <Button className="button quiet" onPress={close}>
        Cancel
      </Button>
      <Button className="button primary" type="submit" isDisabled={isDisabled}>
        {does}
      </Button>
    </div>
  );
}
