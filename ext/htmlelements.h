/* What the page scanner knows about elements and attributes: constant tables, one row each.
 *
 * Elements without a row are all alike: no links, nothing special about what they contain.
 */
#ifndef LARBINPY_HTMLELEMENTS_H
#define LARBINPY_HTMLELEMENTS_H

#include "layout.h"

enum { /* attributes that are kept; the first eight are ATTRIBUTE_* */
    SLOT_XLINK = 9,
    SLOT_REL = 10,
    SLOT_HTTP_EQUIV = 11,
    SLOT_NAME = 12,
    SLOT_CHARSET = 13,
    SLOT_LANG = 14,
    SLOT_ENCODING = 15,
    SLOT_FONT = 16, /* color, face or size: only that one of them is there matters */
    SLOT_ALT = 17,
    SLOT_HREFLANG = 18,
    SLOTS = 19
};

enum {
    WANTS_ATTRIBUTES = 1,
    IS_RAW = 2,       /* content is text up to the end tag */
    IS_RCDATA = 4,    /* the same, with character references */
    IS_SCRIPT = 8,    /* the same, with script's own rules */
    IS_PLAIN = 16,    /* all that follows is text */
    BREAKS_OUT = 32,  /* ends svg and math */
    ENDS_FRAMESET = 64 /* after it, no frameset can come any more */
};

enum { /* elements that the scanner treats by name; those from ROLE_SVG on only change contexts */
    ROLE_NONE, ROLE_A, ROLE_META, ROLE_HTML, ROLE_TITLE, ROLE_FRAME, ROLE_FRAMESET, ROLE_NOFRAMES,
    ROLE_TEMPLATE, ROLE_FONT, ROLE_P, ROLE_BR, ROLE_STYLE,
    ROLE_SVG, ROLE_MATH, ROLE_FOREIGN_OBJECT, ROLE_DESC, ROLE_MATH_TEXT, /* mi and its four like, told apart by their index */
    ROLE_ANNOTATION
};

typedef struct {
    const char *name;
    uint8_t role;
    uint8_t element; /* ELEMENT_*, 0 = has no links */
    uint8_t first;   /* slots of its one or two URL attributes */
    uint8_t second;
    uint8_t flags;
} html_element;

typedef struct {
    const char *name;
    uint8_t slot;
} html_attribute;

#define BREAKOUT(name) {name, .flags = BREAKS_OUT}

static const html_element html_elements[] = {
    {""}, /* any other element */
    {"a", .role = ROLE_A, .element = ELEMENT_A, .first = ATTRIBUTE_HREF, .flags = WANTS_ATTRIBUTES},
    {"annotation-xml", .role = ROLE_ANNOTATION, .flags = WANTS_ATTRIBUTES},
    {"applet", .flags = ENDS_FRAMESET},
    {"area", .element = ELEMENT_AREA, .first = ATTRIBUTE_HREF,
     .flags = ENDS_FRAMESET | WANTS_ATTRIBUTES},
    {"audio", .element = ELEMENT_AUDIO, .first = ATTRIBUTE_SRC, .flags = WANTS_ATTRIBUTES},
    {"base", .element = ELEMENT_BASE, .first = ATTRIBUTE_HREF, .flags = WANTS_ATTRIBUTES},
    {"body", .flags = BREAKS_OUT | ENDS_FRAMESET},
    {"br", .role = ROLE_BR, .flags = BREAKS_OUT | ENDS_FRAMESET},
    {"button", .flags = ENDS_FRAMESET},
    {"dd", .flags = BREAKS_OUT | ENDS_FRAMESET},
    {"desc", .role = ROLE_DESC},
    {"dt", .flags = BREAKS_OUT | ENDS_FRAMESET},
    {"embed", .element = ELEMENT_EMBED, .first = ATTRIBUTE_SRC,
     .flags = BREAKS_OUT | ENDS_FRAMESET | WANTS_ATTRIBUTES},
    {"font", .role = ROLE_FONT, .flags = WANTS_ATTRIBUTES},
    {"foreignobject", .role = ROLE_FOREIGN_OBJECT},
    {"form", .element = ELEMENT_FORM, .first = ATTRIBUTE_ACTION, .flags = WANTS_ATTRIBUTES},
    {"frame", .role = ROLE_FRAME, .element = ELEMENT_FRAME, .first = ATTRIBUTE_SRC,
     .flags = WANTS_ATTRIBUTES},
    {"frameset", .role = ROLE_FRAMESET},
    {"hr", .flags = BREAKS_OUT | ENDS_FRAMESET},
    {"html", .role = ROLE_HTML, .flags = WANTS_ATTRIBUTES},
    {"iframe", .element = ELEMENT_IFRAME, .first = ATTRIBUTE_SRC,
     .flags = IS_RAW | ENDS_FRAMESET | WANTS_ATTRIBUTES},
    {"image", .element = ELEMENT_IMG, .first = ATTRIBUTE_SRC, .second = ATTRIBUTE_SRCSET,
     .flags = ENDS_FRAMESET | WANTS_ATTRIBUTES},
    {"img", .element = ELEMENT_IMG, .first = ATTRIBUTE_SRC, .second = ATTRIBUTE_SRCSET,
     .flags = BREAKS_OUT | ENDS_FRAMESET | WANTS_ATTRIBUTES},
    {"input", .flags = ENDS_FRAMESET},
    {"keygen", .flags = ENDS_FRAMESET},
    {"li", .flags = BREAKS_OUT | ENDS_FRAMESET},
    {"link", .element = ELEMENT_LINK, .first = ATTRIBUTE_HREF, .flags = WANTS_ATTRIBUTES},
    {"listing", .flags = BREAKS_OUT | ENDS_FRAMESET},
    {"marquee", .flags = ENDS_FRAMESET},
    {"math", .role = ROLE_MATH},
    {"meta", .role = ROLE_META, .flags = BREAKS_OUT | WANTS_ATTRIBUTES},
    {"mi", .role = ROLE_MATH_TEXT},
    {"mn", .role = ROLE_MATH_TEXT},
    {"mo", .role = ROLE_MATH_TEXT},
    {"ms", .role = ROLE_MATH_TEXT},
    {"mtext", .role = ROLE_MATH_TEXT},
    {"noembed", .flags = IS_RAW},
    {"noframes", .role = ROLE_NOFRAMES, .flags = IS_RAW},
    {"object", .element = ELEMENT_OBJECT, .first = ATTRIBUTE_DATA,
     .flags = ENDS_FRAMESET | WANTS_ATTRIBUTES},
    {"p", .role = ROLE_P, .flags = BREAKS_OUT},
    {"plaintext", .flags = IS_PLAIN},
    {"pre", .flags = BREAKS_OUT | ENDS_FRAMESET},
    {"script", .element = ELEMENT_SCRIPT, .first = ATTRIBUTE_SRC,
     .flags = IS_SCRIPT | WANTS_ATTRIBUTES},
    {"select", .flags = ENDS_FRAMESET},
    {"source", .element = ELEMENT_SOURCE, .first = ATTRIBUTE_SRCSET, .second = ATTRIBUTE_SRC,
     .flags = WANTS_ATTRIBUTES},
    {"style", .role = ROLE_STYLE, .flags = IS_RAW},
    {"svg", .role = ROLE_SVG},
    {"table", .flags = BREAKS_OUT | ENDS_FRAMESET},
    {"template", .role = ROLE_TEMPLATE},
    {"textarea", .flags = IS_RCDATA | ENDS_FRAMESET},
    {"title", .role = ROLE_TITLE, .flags = IS_RCDATA},
    {"track", .element = ELEMENT_TRACK, .first = ATTRIBUTE_SRC, .flags = WANTS_ATTRIBUTES},
    {"video", .element = ELEMENT_VIDEO, .first = ATTRIBUTE_SRC, .second = ATTRIBUTE_POSTER,
     .flags = WANTS_ATTRIBUTES},
    {"wbr", .flags = ENDS_FRAMESET},
    {"xmp", .flags = IS_RAW | ENDS_FRAMESET},
    BREAKOUT("b"), BREAKOUT("big"), BREAKOUT("blockquote"), BREAKOUT("center"), BREAKOUT("code"),
    BREAKOUT("div"), BREAKOUT("dl"), BREAKOUT("em"), BREAKOUT("h1"), BREAKOUT("h2"),
    BREAKOUT("h3"), BREAKOUT("h4"), BREAKOUT("h5"), BREAKOUT("h6"), BREAKOUT("head"),
    BREAKOUT("i"), BREAKOUT("menu"), BREAKOUT("nobr"), BREAKOUT("ol"), BREAKOUT("ruby"),
    BREAKOUT("s"), BREAKOUT("small"), BREAKOUT("span"), BREAKOUT("strike"), BREAKOUT("strong"),
    BREAKOUT("sub"), BREAKOUT("sup"), BREAKOUT("tt"), BREAKOUT("u"), BREAKOUT("ul"),
    BREAKOUT("var"),
};

static const html_attribute html_attributes[] = {
    {"", 0}, /* any other attribute */
    {"href", ATTRIBUTE_HREF},
    {"src", ATTRIBUTE_SRC},
    {"srcset", ATTRIBUTE_SRCSET},
    {"content", ATTRIBUTE_CONTENT},
    {"data", ATTRIBUTE_DATA},
    {"poster", ATTRIBUTE_POSTER},
    {"action", ATTRIBUTE_ACTION},
    {"style", ATTRIBUTE_STYLE},
    {"alt", SLOT_ALT},
    {"hreflang", SLOT_HREFLANG},
    {"xlink:href", SLOT_XLINK},
    {"rel", SLOT_REL},
    {"http-equiv", SLOT_HTTP_EQUIV},
    {"name", SLOT_NAME},
    {"charset", SLOT_CHARSET},
    {"lang", SLOT_LANG},
    {"encoding", SLOT_ENCODING},
    {"color", SLOT_FONT},
    {"face", SLOT_FONT},
    {"size", SLOT_FONT},
};

enum {
    HTML_ELEMENTS = sizeof html_elements / sizeof *html_elements,
    HTML_ATTRIBUTES = sizeof html_attributes / sizeof *html_attributes
};

#undef BREAKOUT
#endif
