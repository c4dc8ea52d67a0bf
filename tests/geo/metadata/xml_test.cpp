// SPDX-License-Identifier: Apache-2.0
#include "geo/metadata/xml.hpp"

#include "geo/metadata/utf8.hpp"
#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <string>

namespace terrazzo::geo {
namespace {

constexpr std::size_t kLimit = 1 << 20;

TEST(Xml, ComparesNamesWithoutRegardToCase) {
  pugi::xml_document document;
  ASSERT_TRUE(parse_xml("<Root><CHILD Name='n'>text</CHILD></Root>", kLimit, document));
  auto const node = child(child(document, "root"), "child");
  EXPECT_EQ(value_of(node, "NAME"), "n");
  EXPECT_EQ(text_of(node), "text");
  EXPECT_EQ(value_of(child(document, "root"), "Child"), "text");
  EXPECT_FALSE(value_of(node, "other"));
}

TEST(Xml, DropsLeadingSpaceOnlyAndKnowsNoEmptyText) {
  pugi::xml_document document;
  ASSERT_TRUE(parse_xml("<r><a>\n  x \n</a><b>  </b><c/><d>x<e/></d></r>", kLimit, document));
  auto const root = child(document, "r");
  EXPECT_EQ(text_of(child(root, "a")), "x \n");
  EXPECT_FALSE(text_of(child(root, "b")));
  EXPECT_FALSE(text_of(child(root, "c")));
  EXPECT_FALSE(text_of(child(root, "d")));
}

TEST(Xml, RefusesWhatIsBrokenOrTooLarge) {
  pugi::xml_document document;
  EXPECT_FALSE(parse_xml("", kLimit, document));
  EXPECT_FALSE(parse_xml("garbage", kLimit, document));
  EXPECT_FALSE(parse_xml("<a><b></a>", kLimit, document));
  EXPECT_FALSE(parse_xml("<a>text</a>", 5, document));
}

TEST(Xml, NeverExpandsEntitiesOfTheDocument) {
  pugi::xml_document document;
  ASSERT_TRUE(parse_xml("<!DOCTYPE a [<!ENTITY e 'boo'><!ENTITY f SYSTEM 'file:///etc/passwd'>]><a>&e;&f;</a>", kLimit,
                        document));
  EXPECT_EQ(text_of(child(document, "a")), "&e;&f;");
}

TEST(Xml, BearsDeepNestingAndWritesItWithoutGrowth) {
  constexpr int kDepth = 100'000;
  std::string text;
  for (int i = 0; i < kDepth; ++i) { text += "<a>"; }
  for (int i = 0; i < kDepth; ++i) { text += "</a>"; }
  pugi::xml_document document;
  ASSERT_TRUE(parse_xml(text, std::size_t{2} << 20, document));
  EXPECT_LE(serialize(document.first_child()).size(), text.size());
}

TEST(Xml, ReadsLatin1WhereTheBytesAreNotUtf8) {
  pugi::xml_document document;
  ASSERT_TRUE(parse_xml("<a>caf\xe9</a>", kLimit, document));
  EXPECT_EQ(text_of(child(document, "a")), "caf\xc3\xa9");
}

TEST(Xml, GivesUtf8EvenForEntitiesThatAreNoCharacters) {
  pugi::xml_document document;
  ASSERT_TRUE(parse_xml("<a b='&#xd800;'>&#xdfff;</a>", kLimit, document));
  EXPECT_TRUE(is_utf8(*text_of(child(document, "a"))));
  EXPECT_TRUE(is_utf8(*value_of(child(document, "a"), "b")));
  EXPECT_TRUE(is_utf8(serialize(child(document, "a"))));
}

TEST(Xml, UnescapesTheEntitiesOfXml) {
  EXPECT_EQ(unescape_xml("a &lt;&gt;&amp;&quot;&apos; b"), "a <>&\"' b");
  EXPECT_EQ(unescape_xml("&#65;&#x20ac;&#128512;"), "A\xe2\x82\xac\xf0\x9f\x98\x80");
  EXPECT_EQ(unescape_xml("&;&#;&#xd800;&#99999999;&unknown;&"), "&;&#;&#xd800;&#99999999;&unknown;&");
}

TEST(Xml, EscapesWhatItUnescapes) {
  EXPECT_EQ(escape_xml("a<b>&\"c\""), "a&lt;b&gt;&amp;&quot;c&quot;");
  std::string const all = "tab\tline\nreturn\r'quote' \"double\" <&> Höhe 高さ &amp; &#65;";
  EXPECT_EQ(unescape_xml(escape_xml(all)), all);
}

TEST(Xml, LeavesOutWhatNoDocumentMayHold) {
  EXPECT_EQ(escape_xml(std::string_view("a\0b\x01\x1f"
                                        "c",
                                        6)),
            "abc");
}

TEST(Xml, CountsWhatADocumentWillHold) {
  std::string xml;
  for (int i = 0; i < 1000; ++i) { xml += "<a b='1'/>"; }
  MemoryBudget enough(1'000'000), little(100'000);
  charge_xml(xml, "a document", enough);
  EXPECT_GT(enough.used_bytes(), 1000U * (64 + 40) + xml.size());
  try {
    charge_xml(xml, "a document", little);
    FAIL() << "no error";
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), ErrorKind::limit);
    EXPECT_NE(error.message().find(" bytes of memory for a document "), std::string::npos) << error.message();
  }
}

}  // namespace
}  // namespace terrazzo::geo
